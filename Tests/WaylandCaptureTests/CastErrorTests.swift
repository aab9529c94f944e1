import LinkTransport
import Testing

@testable import WaylandCapture

@Suite("An error that PipeWire reports")
struct CastErrorTests {
    @Test(
        "is that of the formats if PipeWire says so, in the words of each version",
        arguments: ["no more input formats", "no more output formats"])
    func formats(_ text: String) {
        #expect(CastError(text: text) == .noFormat)
        #expect(CastError(text: text).description.contains("main memory with 8 bits per channel"))
        #expect(CastError(text: text).kind == .unavailable)
    }

    @Test(
        "is reported as it is otherwise",
        arguments: ["no node available", "target not found", "no more buffers", "error set output format: -22 (x)"])
    func others(_ text: String) {
        #expect(CastError(text: text) == .stream(text))
    }
}
