import FoundationEssentials
import Glibc
import Processes

extension Browser {
    /// A browser that can be controlled.
    public enum Kind: CaseIterable, Sendable {
        /// Chromium, or a browser that is built on it, controlled through the DevTools protocol.
        case chromium
        /// Firefox, controlled through WebDriver BiDi. It accepts every certificate. It plays no sound unless it finds
        /// a sound server.
        case firefox

        /// Whether it is installed.
        public var isAvailable: Bool { program != nil }

        /// The path of its program; nil if it isn't installed.
        var program: String? { candidates.lazy.compactMap(ProgramLookup.path).first }

        /// The programs to try, starting with the one that `variable` names.
        var candidates: [String] {
            let named = ProcessInfo.processInfo.environment[variable].map { [$0] } ?? []
            return switch self {
            case .chromium: named + ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
            case .firefox: named + ["firefox-esr", "firefox"]
            }
        }

        /// The environment variable that names its program.
        var variable: String {
            switch self {
            case .chromium: "CHROMIUM"
            case .firefox: "FIREFOX"
            }
        }

        /// The command-line flags to run it without a window, with its profile in the folder `profile`.
        func flags(profile: String) -> [String] {
            switch self {
            case .chromium: Self.chromiumFlags(profile: profile)
            // It tells on its standard error which port it chose.
            case .firefox: ["--headless", "--profile", profile, "--remote-debugging-port", "0"]
            }
        }

        /// Changes to the environment variables that it inherits.
        func environment(profile: String) -> [String: String?] {
            switch self {
            case .chromium: [:]
            case .firefox:
                [
                    // Else it reads settings in the user's home, and refuses one that isn't root's if root runs it.
                    "HOME": profile, "MOZ_CRASHREPORTER_DISABLE": "1", "MOZ_HEADLESS_WIDTH": "1280",
                    "MOZ_HEADLESS_HEIGHT": "800",
                ]
            }
        }

        private static func chromiumFlags(profile: String) -> [String] {
            var flags = [
                "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--disable-gpu",
                "--mute-audio", "--autoplay-policy=no-user-gesture-required", "--no-first-run",
                "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-extensions", "--disable-breakpad", "--disable-dev-shm-usage",
                "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
                "--disable-renderer-backgrounding", "--password-store=basic", "--window-size=1280,800",
            ]
            // Chromium's sandbox refuses to work for root, which tests in containers run as.
            if geteuid() == 0 { flags.append("--no-sandbox") }
            return flags
        }
    }
}
