import Testing

@testable import Signalling

@Suite("What pages ask of a camera")
struct CameraFormatTests {
    @Test(
        "a size and a frame rate are read as they are written", arguments: ["1280x720@30", "16x4096@1", "640x480@60"])
    func reading(_ text: String) throws {
        #expect(try #require(CameraFormat(text)).description == text)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "1280x720", "1280@30", "x@", "1280x720@", "1280x@30", "1280x720@30@30", "1280x720x3@30", "+1280x720@30",
            " 1280x720@30", "1280X720@30", "15x720@30", "1280x4097@30", "1280x720@0", "1280x720@61", "1280x720@29.97",
            "99999999999999999999x720@30",
        ])
    func refusing(_ text: String) {
        #expect(CameraFormat(text) == nil)
    }

    @Test("the default is 720p at 30 fps")
    func usual() {
        #expect(CameraFormat() == CameraFormat("1280x720@30"))
    }
}
