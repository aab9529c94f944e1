import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

/// nginx with a configuration of `packaging/scale`, on a port of this machine, with all its files in a test's folder.
final class NginxSite {
    let process: ChildProcess
    /// Where it listens: `127.0.0.1:PORT`.
    let place: String
    private let port: UInt16
    private let own: String

    /// Starts it with `packaging/scale/NAME.conf`, and waits until it listens. `changes` replace parts of that file;
    /// in a replacement, `<place>` is the address to listen at, and `<own>` the folder of this site's files.
    init(_ name: String, replacing changes: [(String, String)], in folder: TemporaryFolder) throws {
        let port = try freePort()
        self.port = port
        place = "127.0.0.1:\(port)"
        own = folder.file("\(name)-\(port)")
        guard mkdir(own, 0o700) == 0 else { throw FileError(path: own, errno: errno) }
        var site = String(decoding: try fileBytes("\(packageRoot)/packaging/scale/\(name).conf"), as: UTF8.self)
        for (former, new) in changes {
            try #require(site.contains(former), "\(former) in \(name).conf")
            site = site.replacing(former, with: new.replacing("<own>", with: own).replacing("<place>", with: place))
        }
        let configuration = """
            daemon off;
            master_process off;
            pid "\(own)/pid";
            error_log stderr warn;
            worker_rlimit_nofile 8192;
            events {
                worker_connections 4096;
            }
            http {
                access_log "\(own)/access.log";
                client_body_temp_path "\(own)/body";
                proxy_temp_path "\(own)/proxy";
                fastcgi_temp_path "\(own)/fastcgi";
                uwsgi_temp_path "\(own)/uwsgi";
                scgi_temp_path "\(own)/scgi";
                \(site)
            }
            """
        let file = try folder.write("\(name)-\(port).conf", Array(configuration.utf8))
        var launch = Launch(NginxServer.program, ["-e", "stderr", "-p", own, "-c", file])
        launch.standardError = .text(limit: 1 << 20)
        process = try ChildProcess(launch)
        let _: TestSocket = try eventually("nginx listens") {
            if let status = process.poll() {
                throw ProgramEnded(status: status, log: process.errorOutput?.text ?? "")
            }
            return try? TestSocket(port: port)
        }
    }

    deinit { process.stop(within: .zero) }

    /// The body of its answer to a request for `path`, whose status must be 200.
    func body(of path: String) throws -> [UInt8] {
        let socket = try TestSocket(port: port)
        try socket.send("GET \(path) HTTP/1.0\r\n\r\n")
        let answer = try socket.readToEnd("a request")
        try #require(answer.starts(with: Array("HTTP/1.1 200 ".utf8)), "\(path)")
        let head = answer.firstRange(of: Array("\r\n\r\n".utf8))
        return Array(answer[(head?.upperBound ?? answer.endIndex)...])
    }

    /// The lines of one of its access logs.
    func log(_ name: String = "access.log") throws -> [Substring] {
        String(decoding: try fileBytes("\(own)/\(name)"), as: UTF8.self).split(separator: "\n")
    }

    /// The paths of all requests so far.
    var requests: [String] {
        get throws { try log().map { line in String(line.split(separator: " ").dropFirst(6).first ?? "") } }
    }
}
