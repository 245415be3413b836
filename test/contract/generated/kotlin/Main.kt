import kotlin.concurrent.thread
import org.openapitools.client.apis.UsersApi
import org.openapitools.client.infrastructure.ApiResponse
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.Session
import org.openapitools.client.models.UserChanges

/**
 * Does what the lines of standard input say, with the client of functions/CLIENTS.md, and prints for
 * each what came of it, for an error its code: java MainKt URL
 */
fun main(args: Array<String>) {
    val store = object : Store {
        override var session: Session? = null
    }
    val accounts = Accounts(args[0], store)
    val users = UsersApi(args[0], accounts.http)
    fun profile() = accounts.api.getProfile().data

    fun follow(words: List<String>): Any? = when (words[0]) {
        "login" -> accounts.logIn(words[1], words[2], words.getOrNull(3))
        "identity" -> accounts.logInByIdentity { nonce ->
            java.net.URI("${words[1]}&nonce=$nonce").toURL().readText()
        }
        "profile" -> profile().email
        "profiles" -> {
            val emails = java.util.concurrent.ConcurrentLinkedQueue<String>()
            List(8) { thread { emails.add(profile().email) } }.forEach { it.join() }
            emails.toSet().joinToString()
        }
        "spoil" -> store.session = store.session?.copy(token = "spoilt")
        "rename" -> users.updateUser(profile().id, UserChanges(name = words[1])).name
        "delete" -> users.deleteUser(profile().id)
        "logout" -> accounts.api.logOut()
        else -> store.session
    }
    for (line in generateSequence(::readLine)) {
        val outcome = try {
            follow(line.split(" "))
        } catch (error: ClientException) {
            codeOf(error.response as ApiResponse<*>)
        }
        println(if (outcome == Unit) "done" else outcome)
    }
}
