/// A parser, or several that work together, with its first inputs and the rules that hold for every input.
struct FuzzTarget: Sendable {
    /// The name on the command line; also that of the folder of its inputs in `Tools/fuzzing/Seeds`.
    let name: String
    /// The longest input that is tried, in bytes.
    var maxInput = 4096
    /// The folder in `Protocol/vectors` whose examples are inputs too.
    var vectors: String?
    /// Words of the format, which the fuzzer puts into its inputs.
    var words: [String] = []
    /// Runs the code on one input. Ends the process, by a trap or by `check`, if something is wrong.
    let run: @Sendable ([UInt8]) -> Void

    /// All targets, in the order in which they run.
    static let all: [FuzzTarget] = [
        .stun, .dtls, .srtp, .rtp, .rtcp, .sdp, .parameterSets, .annexB, .link, .recording, .webSocket, .socketIO,
        .skyRTC, .authority, .rtmp, .announce, .castBuffer, .compositor,
    ]
}

/// Ends the process unless `condition` holds; the fuzzer then keeps the input.
func check(
    _ condition: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    guard !condition else { return }
    fatalError("broken rule: \(rule())", file: file, line: line)
}

/// The size of the pieces in which an input is read a second time: 1 to 64 bytes. It is derived from the input's
/// length, so that examples can be used as they are.
func pieceSize(for input: [UInt8]) -> Int { input.count % 64 + 1 }
