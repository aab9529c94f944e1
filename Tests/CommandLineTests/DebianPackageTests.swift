import MediaTypes
import TestSupport
import Testing

@Suite("Debian packages")
struct DebianPackageTests {
    private func lines(_ path: String) throws -> [Substring] {
        String(decoding: try fileBytes("\(packageRoot)/\(path)"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test("have the version that --version prints")
    func version() throws {
        #expect(try lines("debian/changelog")[0].hasPrefix("screenrelay (\(screenRelayVersion)) "))
    }

    @Test("are built with all packages that Tools/setup installs for a build")
    func buildPackages() throws {
        let installed = try lines("Tools/setup").drop { $0 != "build=(" }.dropFirst().prefix { $0 != ")" }
            .flatMap { $0.split(separator: " ") }
        let control = try lines("debian/control").drop { !$0.hasPrefix("Build-Depends:") }
        let named = control.dropFirst().prefix { $0.hasPrefix(" ") }.compactMap { $0.split { " ,".contains($0) }.first }
        #expect(installed.count > 20)
        // Every build in Debian has a C++ compiler.
        #expect(Set(installed).subtracting(named) == ["g++"])
    }

    @Test("have the alert rules and the dashboard, where the guide says")
    func examples() throws {
        let examples = try lines("debian/screenrelay-host.examples").filter { !$0.isEmpty }
        #expect(examples == ["packaging/grafana-dashboard.json", "packaging/prometheus-rules.yml"])
        for path in examples { #expect(try lines(String(path)).count > 1) }
        let guide = try lines("Documentation/operating.md").joined(separator: "\n")
        #expect(guide.contains("/usr/share/doc/screenrelay-host/examples"))
    }
}
