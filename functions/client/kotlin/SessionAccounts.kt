import org.openapitools.client.infrastructure.*
import org.openapitools.client.models.*

class SessionAccounts(url: String, store: Store) : Accounts(url, store) {
    override fun refresh(session: Session): Session? {
        val answer = withoutToken.refreshWithHttpInfo(RefreshRequest(session.refreshToken))
        return when (answer.statusCode) {
            200 -> (answer as Success).data
            400, 401, 404 -> null
            else -> throw later(answer)
        }
    }

    fun logIn(email: String, password: String, code: String): String =
        begin(withoutToken.logInWithHttpInfo(Credentials(email, password, code)))

    /** @param ask has the SDK of the issuer ask for an ID token for a nonce */
    fun logInByIdentity(ask: (String) -> String): String {
        val nonce = withoutToken.makeNonce().nonce
        return begin(withoutToken.logInByIdentityWithHttpInfo(IdentityLogin(ask(nonce), nonce)))
    }
}
