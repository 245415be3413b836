import java.io.IOException
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.Response
import org.openapitools.client.apis.*
import org.openapitools.client.infrastructure.*
import org.openapitools.client.models.*

/** Where the app keeps its tokens. */
interface Store {
    var session: Session?
}

/** The code of an error. What API Gateway, or a proxy, answers by itself has only a status. */
fun codeOf(response: ApiResponse<*>): String =
    response.headers["error-code"]?.first() ?: "HTTP_${response.statusCode}"

/** Says when to try again, which API Gateway does not say. */
fun later(response: ApiResponse<*>) =
    IOException("Try again in ${response.headers["retry-after"]?.first() ?: 10} seconds.")

/** An app makes one, before any other call. */
open class Accounts(url: String, private val store: Store) {
    init {
        // By default fields that are not set are sent as null, which is a 400.
        Serializer.kotlinxSerializationJsonConfiguration = { explicitNulls = false }
    }

    private val refusals = setOf("TOKEN_EXPIRED", "TOKEN_INVALID")
    protected val withoutToken = AccountsApi(url)

    /** For the other APIs too: `UsersApi(url, http)`. */
    val http: OkHttpClient = OkHttpClient.Builder()
        .addInterceptor { it.proceed(it.request().with(store.session)) }
        .authenticator { _, response -> sendAgain(response) }
        .build()
    val api = AccountsApi(url, http)

    private fun Request.with(session: Session?): Request =
        if (session == null) this
        else newBuilder().header("Authorization", "Bearer ${session.token}").build()

    /** Refreshes after a refusal, unless another thread has done so since the request was sent. */
    @Synchronized
    private fun sendAgain(response: Response): Request? {
        if (response.priorResponse != null || response.header("Error-Code") !in refusals) return null
        val session = store.session ?: return null
        val sent = response.request
        if (sent.header("Authorization") == "Bearer ${session.token}") store.session = refresh(session)
        return store.session?.let { sent.with(it) }
    }

    /** Without sessions nothing follows a token: the user logs in again. */
    protected open fun refresh(session: Session): Session? = null

    /** @return the code of what is missing or wrong, as in TypeScript; empty when logged in */
    fun logIn(email: String, password: String): String =
        begin(withoutToken.logInWithHttpInfo(Credentials(email, password)))

    protected fun begin(answer: ApiResponse<Session?>): String {
        if (answer.statusCode == 429 || answer.statusCode >= 500) throw later(answer)
        store.session = (answer as? Success)?.data ?: return codeOf(answer)
        return ""
    }
}
