import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    @Suite("Doctor of a browser", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserDoctorTests {
        /// Runs `screenrelay doctor` on any ports, opens its page after `script` has run there, and returns the lines
        /// about faults.
        private func lines(_ script: String) throws -> [String] {
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let browser = try Browser.shared()
            let doctor = try RunningProgram(
                "screenrelay", ["doctor", "--browser=none", "--display", screen.name] + RunningProgram.anyPorts)
            let link = try eventually("the page's link") {
                let line = doctor.log.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first
                return line?.split(separator: " ").last.map(String.init)
            }
            let page = try browser.newPage("about:blank")
            try page.runBeforeLoad(script)
            try page.navigate(link)
            let status = try eventually("the end") { doctor.child.poll() }
            doctor.child.output?.waitForEnd(within: .seconds(2))
            let lines = doctor.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("Viewers: ") }
            #expect(status == .exited(lines == ["Nothing is wrong."] ? 0 : 69))
            return lines
        }

        @Test("Chromium can receive what is sent")
        func sound() throws {
            #expect(try lines("") == ["Nothing is wrong."])
        }

        @Test("a browser without H.264 is named, and one without WebRTC")
        func without() throws {
            let codecs =
                "const all = RTCRtpReceiver.getCapabilities; RTCRtpReceiver.getCapabilities = kind => { "
                + "const found = all.call(RTCRtpReceiver, kind); "
                + "return { ...found, codecs: found.codecs.filter(codec => codec.mimeType !== 'video/H264') }; };"
            let without = try lines(codecs)
            #expect(without.count == 1 && without.first?.contains("can't receive H.264") == true)
            let none = try lines("delete window.RTCPeerConnection")
            #expect(none.count == 1 && none.first?.contains("has no WebRTC") == true)
        }
    }
}
