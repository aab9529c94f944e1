import Commands

/// The program `screenrelay`. All that it does is in the library `Commands`, which tests can import.
@main
enum Main {
    static func main() { Program.run() }
}
