import Glibc
import MediaTypes
public import Processes

/// nginx with its RTMP module, which `Tools/setup` unpacks: it records and plays what is sent to it.
public final class NginxServer {
    private static let folder = packageRoot + "/.build/nginx/usr"
    /// The program, which `Tools/setup` unpacks.
    public static let program = folder + "/sbin/nginx"

    /// Whether it is there.
    public static var isAvailable: Bool { access(program, X_OK) == 0 }

    /// Where to send, and where players find it.
    public let url: String
    /// What the last one who has sent to `url` sent: FLV, whole once `log` says that the sender has gone.
    public let recording: String
    public let process: ChildProcess
    private let port: UInt16

    /// Starts the server, and waits until it listens.
    public init(port: UInt16, in folder: TemporaryFolder) throws {
        self.port = port
        let own = folder.file("nginx-\(port)-\(now().nanoseconds)")
        guard mkdir(own, 0o700) == 0 else { throw FileError(path: own, errno: errno) }
        url = "rtmp://127.0.0.1:\(port)/live/key"
        recording = own + "/key.flv"
        let configuration = """
            load_module "\(Self.folder)/lib/nginx/modules/ngx_rtmp_module.so";
            daemon off;
            master_process off;
            pid "\(own)/pid";
            error_log stderr info;
            events {}
            rtmp {
                access_log off;
                server {
                    listen 127.0.0.1:\(port);
                    application live {
                        live on;
                        record all;
                        record_path "\(own)";
                    }
                    application closed {
                        live on;
                        deny publish all;
                    }
                }
            }
            """
        let file = try folder.write("nginx-\(port).conf", Array(configuration.utf8))
        var launch = Launch(Self.program, ["-e", "stderr", "-p", own, "-c", file])
        launch.standardError = .text(limit: 1 << 20)
        process = try ChildProcess(launch)
        try eventually("nginx listens") { try MediaReceiver.isBound(port, in: "/proc/net/tcp") }
    }

    deinit { process.stop(within: .zero) }

    /// The URL of an application that refuses every sender (`closed`), or that isn't there (any other name).
    public func url(application: String) -> String { "rtmp://127.0.0.1:\(port)/\(application)/key" }

    /// What it has said so far.
    public var log: String { process.errorOutput?.text ?? "" }
}
