import Processes
import Testing

@testable import ScreenRelayKit

@Suite("What a capture is given")
struct CaptureConfinementTests {
    @Test("is what its libraries read: those of the display, of the desktop, or of the sound server")
    func variables() throws {
        let (display, desktop, sound) = ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "PULSE_SERVER")
        let cases = [
            (CaptureConfinement(), display, desktop), (CaptureConfinement(sharesDesktop: true), desktop, display),
            (CaptureConfinement.sound, sound, display),
        ]
        for (confinement, given, kept) in cases {
            var launch = Launch("/bin/true")
            #expect(confinement.apply(to: &launch) == -1)
            let variables = try #require(launch.inheritedVariables)
            #expect(variables.contains(given) && !variables.contains(kept))
            #expect(variables.contains("PIPEWIRE_RUNTIME_DIR") == (given == desktop))
            #expect(variables.contains("TZ") && !variables.contains("PATH"))
            #expect(launch.leadsProcessGroup)
        }
    }
}
