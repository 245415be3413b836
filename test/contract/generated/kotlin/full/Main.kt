import org.openapitools.client.models.Session

/** Follows lines with the code for sessions, second factors and identities: java MainKt URL */
fun main(args: Array<String>) {
    val store = Memory()
    val accounts = SessionAccounts(args[0], store)
    followLines(args[0], accounts, store) { words ->
        when {
            words[0] == "login" && words.size > 3 -> accounts.logIn(words[1], words[2], words[3])
            words[0] == "identity" -> accounts.logInByIdentity { nonce ->
                java.net.URI("${words[1]}&nonce=$nonce").toURL().readText()
            }
            words[0] == "session" && words.size > 1 -> store.session = Session("", words[1], words[2])
            words[0] == "logout" -> accounts.api.logOut()
            else -> null
        }
    }
}
