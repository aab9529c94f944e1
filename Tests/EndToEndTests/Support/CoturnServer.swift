import Glibc
import MediaTypes
import Processes
import TestSupport

/// coturn, which `Tools/setup` unpacks: a TURN server for one user, over TCP or TLS.
final class CoturnServer {
    static let (user, password) = ("desk", "a \"b\"")
    /// In a network of its own, it has no neighbour.
    static let port = 3478
    /// The UDP ports that it relays from: not those that the kernel chooses for others.
    static let relayPorts = "61000-61999"

    private static let folder = "\(packageRoot)/.build/coturn/usr"
    static var isAvailable: Bool { access(folder + "/bin/turnserver", X_OK) == 0 }

    private let child: ChildProcess
    private let folder: TemporaryFolder

    /// Starts it at `address` in `network`, over TLS if there is a certificate, and waits until it listens.
    init(at address: String, inside network: LossyNetwork, certificate: MadeCertificate? = nil) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let security =
            try certificate.map {
                [
                    "--no-tcp", "--tls-listening-port=\(Self.port)",
                    "--cert=" + (try folder.write("certificate", $0.text)),
                    "--pkey=" + (try folder.write("key", $0.key)),
                ]
            } ?? ["--no-tls", "--listening-port=\(Self.port)"]
        let relayPorts = Self.relayPorts.split(separator: "-")
        let words =
            network.prefix + [
                Self.folder + "/bin/turnserver", "-n", "--lt-cred-mech", "--user=\(Self.user):\(Self.password)",
                "--realm=turn.example", "--listening-ip=\(address)", "--relay-ip=\(address)",
                "--no-udp", "--no-dtls", "--no-cli", "--log-file=stdout", "--verbose",
                "--min-port=\(relayPorts[0])", "--max-port=\(relayPorts[1])", "--pidfile=" + folder.file("pid"),
                "--userdb=" + folder.file("users"),
            ] + security
        var launch = Launch(words[0], Array(words.dropFirst()))
        launch.environment = ["LD_LIBRARY_PATH": .some(Self.folder + "/lib/x86_64-linux-gnu")]
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 16)
        let child = try ChildProcess(launch)
        self.child = child
        try eventually("coturn") {
            if let status = child.poll() { throw ProgramEnded(status: status, log: child.output?.text ?? "") }
            return child.output?.text.contains("\(certificate == nil ? "TCP" : "TLS") listener opened on") == true
                ? () : nil
        }
    }

    deinit { child.stop(within: .zero) }

    /// What it has done.
    var log: String { child.output?.text ?? "" }
}
