/** Follows lines with the code that works under every setting: java MainKt URL */
fun main(args: Array<String>) {
    val store = Memory()
    followLines(args[0], Accounts(args[0], store), store)
}
