import CommandLine
import Diagnosis
import LinkTransport
import ScreenRelayKit

/// The files and folders that `doctor` looks at.
extension DoctorCommand {
    /// The files that a share would keep secrets in or read them from, and the folders that it would write to. Files
    /// that `plan` has read already are not among them.
    static func files(
        _ options: ParsedOptions, _ plan: SharePlan
    ) throws(UsageError) -> (secrets: [String], folders: [String]) {
        let listen = plan.listen.map { "\($0)" }
        let room = try options.required("room", as: .roomName)
        var secrets: [String] = []
        for option in ["token-file", "present-token-file", "admin-token-file"] {
            if let file = try options.value(option, as: .text) { secrets.append(file) }
        }
        if let file = options.value("token-file") { secrets.append(file + ".present") }
        // Files that are kept for the user.
        var kept: [String] = []
        if let file = TokenFile(room: room, listen: listen), !options.has("open"), !options.has("token-file") {
            kept += [file.path, file.path + ".present"]
        }
        if let file = TokenFile(administrationOf: listen), !options.has("admin-token-file") { kept.append(file.path) }
        if let file = CertificateFile(), plan.makesCertificate { kept.append(file.path) }
        let folders = Set(kept.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } })
        return (secrets + kept + streamObjects(options), [SocketFolder().path] + folders.sorted())
    }

    /// The files with the addresses and keys of pushes.
    private static func streamObjects(_ options: ParsedOptions) -> [String] {
        let urls = options.values("push") + options.groups.compactMap { $0.kind == "push" ? $0.value("url") : nil }
        return urls.filter { $0.lowercased().hasPrefix("object:") && !$0.contains("://") }.map {
            String(TrackPlace.split($0).url.dropFirst("object:".count))
        }
    }

    /// What is wrong with the content of the file in which the host's own certificate is kept.
    static var brokenCertificate: Finding? {
        do throws(CertificateFileError) {
            _ = try CertificateFile()?.kept()
        } catch {
            if case .certificate = error { return Finding("file", line: "--tls self-signed: \(error)") }
            // The modes of all such files are looked at later.
        }
        return nil
    }

    /// The key that `--capture-key` names, whatever capture link it is for.
    static func captureKey(_ options: ParsedOptions) throws(UsageError) -> LinkToken? {
        try options.captureKey(for: .tls(host: "127.0.0.1", port: 0))
    }
}
