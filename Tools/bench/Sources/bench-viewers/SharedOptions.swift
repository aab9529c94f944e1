import CBench
import CommandLine

/// Options that several commands have.
extension Option {
    static let token = Option(
        long: "token", value: .required("TOKEN"), help: "the Bearer token; an invite link has it already")
    static let viewers = Option(
        long: "viewers", short: "n", value: .required("COUNT"), help: "the number of viewers", default: "1")
    static let joinRate = Option(long: "join-rate", value: .required("COUNT"), help: "joins per second", default: "50")
    static let warmUp = Option(
        long: "warm", value: .required("TIME"), help: "the time between the last join and the measurement",
        default: "3s")
    static let length = Option(
        long: "seconds", short: "s", value: .required("TIME"), help: "the length of the measurement", default: "10s")
    static let core = Option(long: "core", value: .required("NUMBER"), help: "run only on this processor")
}

extension Operands {
    static let whepAddress = Operands(
        name: "ADDRESS", count: 1...1,
        help: "a WHEP endpoint, http://HOST:PORT/PATH, or an invite link of a ScreenRelay host")
}

extension ParsedOptions {
    /// The address that ``Operands/whepAddress`` and `--token` give.
    func whepAddress() throws(UsageError) -> WHEPAddress {
        let text = operands.first ?? ""
        guard let address = WHEPAddress(text, token: value("token")) else {
            throw UsageError("'\(text)': not an address of WHEP; write it like http://127.0.0.1:8080/whep/screen")
        }
        return address
    }

    /// Binds the calling thread to the processor that `--core` gives.
    ///
    /// - Throws: ``BenchFailure`` if there is no such processor, or `UsageError`.
    func pinThread() throws {
        guard let core = try value("core", as: .integer(0...1023, what: "processor")) else { return }
        guard cbench_pin(Int32(core)) == 0 else { throw BenchFailure.system("--core \(core)") }
    }
}
