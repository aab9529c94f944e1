import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "Certificates of servers",
        .enabled(
            if: EndToEnd.isPossible && FFmpeg.isAvailable && PythonClient.isAvailable(.debian)
                && ProgramLookup.path(of: "openssl") != nil))
    struct ServerCertificates {
        private let folder: TemporaryFolder
        /// A file with pictures for some seconds.
        private let talk: String
        /// The certificate of a server called localhost, its own authority, and its key.
        private let certificate: String
        private let key: String

        init() throws {
            folder = try TemporaryFolder()
            certificate = folder.file("certificate")
            key = folder.file("key")
            try Self.openssl([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key,
                "-out", certificate,
            ])
            talk = folder.file("talk.mp4")
            let raw = try folder.write("talk.264", TestStreams.small.bytes())
            let copied = try FFmpeg.run(["-f", "h264", "-r", "5", "-i", raw, "-c", "copy", talk])
            try #require(copied.status == .exited(0), "\(copied.messages)")
        }

        private static func openssl(_ arguments: [String]) throws {
            var launch = Launch("openssl", arguments)
            launch.standardError = .text(limit: 10_000)
            let run = try ChildProcess.run(launch, within: .seconds(90))
            try #require(run.status == .exited(0), "\(run.errorOutput)")
        }

        /// A certificate of the same server whose time is over. By `openssl ca`, because `x509` takes times in the past
        /// in version 3.0 or from 3.4 on, in ways that exclude each other.
        private func expiredCertificate() throws -> String {
            let (request, expired) = (folder.file("request"), folder.file("expired"))
            try Self.openssl([
                "req", "-new", "-key", key, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                "-out", request,
            ])
            let settings = """
                [ca]
                default_ca = own
                [own]
                database = \(try folder.write("issued", []))
                serial = \(try folder.write("serial", Array("01\n".utf8)))
                new_certs_dir = \(folder.path)
                default_md = sha256
                copy_extensions = copy
                policy = names
                [names]
                commonName = supplied

                """
            try Self.openssl([
                "ca", "-batch", "-notext", "-selfsign", "-keyfile", key, "-in", request, "-out", expired,
                "-config", folder.write("ca.conf", Array(settings.utf8)),
                "-startdate", "20250101000000Z", "-enddate", "20250102000000Z",
            ])
            return expired
        }

        /// A host that trusts the system's authorities, or only those in the file `store`.
        private func host(_ options: [String], trusting store: String? = nil) throws -> RunningProgram {
            let link = "unix:" + folder.file("\(now().nanoseconds).sock")
            let prefix = store.map { ["env", "SSL_CERT_FILE=\($0)"] } ?? ["env", "-u", "SSL_CERT_FILE"]
            return try RunningProgram(
                "screenrelay", ["host", "--link", link] + RunningProgram.anyPorts + options, prefix: prefix)
        }

        /// Puts TLS in front of what listens on `port`; returns the port for it.
        private func forwarder(
            to port: UInt16, showing other: String? = nil
        ) throws -> (client: PythonClient, port: Int) {
            let client = try PythonClient("Network/tls_forwarder", in: .debian, [other ?? certificate, key, "\(port)"])
            return (client, try #require(try client.event("listening")["port"] as? Int))
        }

        @Test("a push by RTMPS needs a certificate of a known authority for the server's name")
        func push() throws {
            let plain = try freePort()
            let server = try MediaReceiver(.rtmp, port: plain, in: folder)
            let (tls, port) = try forwarder(to: plain)
            defer { withExtendedLifetime(tls) {} }
            let source = ["--source", "file:" + talk]
            let stranger = try host(source + ["--push", "rtmps://localhost:\(port)/live/key"])
            try eventually("an unknown authority") {
                stranger.output.contains(
                    "the push to rtmps://localhost:\(port)/live/... has failed: its certificate is not trusted\n")
            }
            #expect(stranger.stop() == .exited(0))
            let other = try host(source + ["--push", "rtmps://127.0.0.1:\(port)/live/key"], trusting: certificate)
            try eventually("another name") {
                other.output.contains(
                    "the push to rtmps://127.0.0.1:\(port)/live/... has failed: its certificate is for another name\n")
            }
            #expect(other.stop() == .exited(0))
            #expect(!tls.events.contains { $0["event"] as? String == "connected" })

            let known = try host(source + ["--push", "rtmps://localhost:\(port)/live/key"], trusting: certificate)
            try eventually("it is connected") {
                known.output.contains("the push to rtmps://localhost:\(port)/live/... is connected\n")
            }
            try tls.event("connected")
            #expect(known.stop() == .exited(0))
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            let decoded = try FFmpeg.decode(server.file)
            #expect(decoded.faults.isEmpty, "\(decoded.messages)")
            #expect(decoded.bytes.count >= 176 * 144 * 3)
        }

        @Test("a stream object by HTTPS needs a known certificate too, and is asked for each connection")
        func object() throws {
            var launch = Launch(
                "/usr/bin/python3",
                ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path])
            launch.standardOutput = .text(limit: 10_000)
            launch.standardError = .text(limit: 100_000)
            let web = try ChildProcess(launch)
            defer { web.stop(within: .zero) }
            let plain = try eventually("the web server's port") { () -> UInt16? in
                web.output?.text.split(separator: "\n").first?.split(separator: " ").compactMap { UInt16($0) }.first
            }
            let (tls, port) = try forwarder(to: plain)
            defer { withExtendedLifetime(tls) {} }
            let source = ["--source", "file:" + talk]
            let push = ["--push", "object:https://localhost:\(port)/live.json?sign=Sesam"]
            let shown = "the push to object:https://localhost:\(port)/... "
            let reason = shown + "has failed: its stream object can't be read: "
            let stranger = try host(source + push)
            try eventually("an unknown authority") {
                stranger.output.contains(reason + "its certificate is not trusted\n")
            }
            #expect(stranger.stop() == .exited(0))

            let known = try host(source + push, trusting: certificate)
            try eventually("no such object") {
                known.output.contains(reason + "the server answers 404\n")
            }
            let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
            defer { withExtendedLifetime(server) {} }
            try folder.write("live.json", Array(#"{"url": "\#(server.url)"}"#.utf8))
            let command = ["screenrelay", "push", "restart", "1", "--pid", "\(known.child.processID)"]
            #expect(try CommandLineRun(command).status == .exited(0))
            try eventually("it is connected") { known.output.contains(shown + "is connected\n") }
            #expect(!known.output.contains("Sesam") && !known.log.contains("Sesam"))
            #expect(known.stop() == .exited(0))
        }

        @Test("a stream object is not followed from HTTPS over HTTP, wherever that leads on to")
        func objectWithoutTLS() throws {
            let (server, between) = (try RawServer(), try RawServer())
            let (tls, port) = try forwarder(to: server.port)
            defer { withExtendedLifetime(tls) {} }
            let push = "object:https://localhost:\(port)/live.json"
            func answer(_ location: String) throws {
                _ = try server.acceptRequest()
                let head = "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
                try server.send(Array(head.utf8))
            }
            let host = try host(["--source", "file:" + talk, "--push", push], trusting: certificate)
            // By HTTPS it is, also to another server.
            try answer("https://localhost:\(port)/next.json")
            // What is asked there would send the client back to HTTPS.
            try answer("http://localhost:\(between.port)/back.json")
            try eventually("the failure") {
                host.output.contains("it is redirected to an address that can't be used, or without TLS\n")
            }
            #expect(!between.hasNext && host.stop() == .exited(0))
        }

        @Test("a source by RTMPS needs a known certificate too, and one by RTSPS an option that any is accepted")
        func source() throws {
            let (tls, port) = try forwarder(to: try freePort())
            defer { withExtendedLifetime(tls) {} }
            let checked = try host(["--source", "rtmps://localhost:\(port)/live/key"])
            try checked.waitForLog(
                "the source rtmps://localhost:\(port)/... has failed: its certificate is not trusted")
            let refused = try CommandLineRun(["screenrelay", "host", "--source", "rtsps://localhost:\(port)/key"])
            #expect(refused.status == .exited(64) && refused.errorOutput.contains("add --insecure-source"))
            let unchecked = try host(["--source", "rtsps://localhost:\(port)/key", "--insecure-source"])
            try unchecked.waitForLog("the source rtsps://localhost:\(port)/...: the certificate isn't verified")
        }

        @Test("a snapshot by HTTPS needs a known certificate too")
        func snapshot() throws {
            let host = try host(["--tls-cert", certificate, "--tls-key", key])
            // It names the host as its certificate does.
            let named = try host.printedLink()
            let unnamed = named.replacing("localhost", with: "127.0.0.1")
            for (link, store, words) in [
                (named, "", "its certificate is not trusted"),
                (unnamed, certificate, "its certificate is for another name"),
                (named, folder.file("nothing"), "the file that SSL_CERT_FILE names can't be read"),
                (named, certificate, "the host has no picture yet"),
            ] {
                let run = try CommandLineRun(
                    ["screenrelay", "snapshot", link, "-o", folder.file("s.png")],
                    environment: ["SSL_CERT_FILE": store])
                #expect(run.status == .exited(69))
                #expect(run.errorLine?.contains(words) == true, "\(run.errorOutput)")
            }
            #expect(host.stop() == .exited(0))
        }

        @Test("a publisher over RTMPS gets the host's certificate under the name that is printed")
        func publisher() throws {
            let room = try PublishedRoom(["--rtmp", "0", "--tls-cert", certificate, "--tls-key", key])
            let words = try room.host.printed("Publishers over RTMP: ").split(separator: " ")
            let (server, stream) = (try #require(words.first), try #require(words.last))
            #expect(server.hasPrefix("rtmps://localhost:"))
            let sender = try PublishedRoom.publish(
                ["-tune", "zerolatency"],
                to: ["-f", "flv", "-tls_verify", "1", "-ca_file", certificate, "\(server)/\(stream)"])
            defer { sender.stop(within: .zero) }
            try room.host.waitForLog("sends H.264 of 320x240")
            #expect(room.host.stop() == .exited(0))
        }

        /// Expects what a client of ours says of a server with each kind of certificate, and `success` if all is well.
        ///
        /// - Parameters:
        ///   - options: those of the host for a server at this place.
        ///   - line: what the host says, with what went wrong behind it.
        private func expectWords(
            _ options: (_ place: String) -> [String], line: (_ place: String, _ reason: String) -> String,
            success: (_ place: String) -> String, at plain: UInt16
        ) throws {
            let (tls, port) = try forwarder(to: plain)
            let expired = try expiredCertificate()
            let (old, oldPort) = try forwarder(to: plain, showing: expired)
            let place = "localhost:\(port)"
            for (place, store, reason) in [
                (place, nil, "its certificate is not trusted"),
                ("127.0.0.1:\(port)", certificate, "its certificate is for another name"),
                ("localhost:\(oldPort)", expired, "its certificate has expired"),
                (place, folder.file("nothing"), "the file that SSL_CERT_FILE names can't be read"),
            ] {
                let host = try host(options(place), trusting: store)
                try eventually(reason) { host.output.contains(line(place, reason) + "\n") }
                #expect(host.stop() == .exited(0))
            }
            #expect(!(tls.events + old.events).contains { $0["event"] as? String == "connected" })
            let known = try host(options(place), trusting: certificate)
            try eventually("it is connected") { known.output.contains(success(place)) }
            try tls.event("connected")
            #expect(known.stop() == .exited(0))
        }

        @Test(
            "a push to a WebRTC server by TLS needs a known certificate too, which hasn't expired",
            .enabled(if: PythonClient.isAvailable),
            arguments: [("whip", "whip:https", "/whip", "/..."), ("janus", "janus:wss", "#1234,sesame", "#1234")])
        func webRTC(name: String, scheme: String, end: String, shownEnd: String) throws {
            let server = try PythonClient("\(name)_server", in: .rtc, ["0", "Sesam"])
            let plain = try #require((try server.event("listening")["port"] as? Int).flatMap { UInt16(exactly: $0) })
            func push(to place: String) -> String { "the push to \(scheme)://\(place)\(shownEnd) " }
            try expectWords(
                { ["--source", "file:" + talk, "--push", "\(scheme)://Sesam@\($0)\(end)"] },
                line: { push(to: $0) + "has failed: \($1)" }, success: { push(to: $0) + "is connected\n" }, at: plain)
        }

        @Test(
            "a join by TLS needs a known certificate too, which hasn't expired",
            .enabled(if: PythonClient.isAvailable),
            arguments: [("skyrtc_server", "skyrtc:wss", "/mesh#Sesam"), ("pair_server", "socketio:https", "#Sesam")])
        func join(name: String, scheme: String, room: String) throws {
            let plain = try freePort()
            let server = try PythonClient(
                name, in: name == "pair_server" ? .socketio5 : .rtc, ["--port", "\(plain)"])
            try server.event("listening")
            func join(to place: String) -> String { "the join to \(scheme)://\(place): " }
            try expectWords(
                { ["--join", "\(scheme)://\($0)\(room)"] },
                line: { join(to: $0) + "waiting to try again: \($1)" }, success: { join(to: $0) + "joined, 0 members" },
                at: plain)
            try server.event("join") { $0["room"] as? String == "Sesam" }
        }
    }
}
