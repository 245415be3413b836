import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.concurrent.thread
import org.openapitools.client.apis.UsersApi
import org.openapitools.client.infrastructure.ApiResponse
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.Session
import org.openapitools.client.models.UserChanges

class Memory : Store {
    override var session: Session? = null
}

/**
 * Does what the lines of standard input say, with the client of functions/CLIENTS.md, and prints for
 * each what came of it, for an error its code.
 *
 * @param others what only some clients can do; null for a line that any client can follow
 */
fun followLines(url: String, accounts: Accounts, store: Store, others: (List<String>) -> Any? = { null }) {
    val users = UsersApi(url, accounts.http)
    fun profile() = accounts.api.getProfile().data

    fun follow(words: List<String>): Any? = others(words) ?: when (words[0]) {
        "login" -> accounts.logIn(words[1], words[2])
        "profile" -> profile().email
        "profiles" -> {
            val emails = ConcurrentLinkedQueue<String>()
            List(8) { thread { emails.add(profile().email) } }.forEach { it.join() }
            emails.toSet().joinToString()
        }
        "token" -> store.session = store.session?.copy(token = words[1])
        "rename" -> users.updateUser(profile().id, UserChanges(name = words[1])).name
        "delete" -> users.deleteUser(profile().id)
        else -> store.session
    }
    for (line in generateSequence(::readLine)) {
        val outcome = try {
            follow(line.split(" "))
        } catch (error: ClientException) {
            codeOf(error.response as ApiResponse<*>)
        } catch (error: IOException) {
            error.message
        }
        println(if (outcome == Unit) "done" else outcome)
    }
}
