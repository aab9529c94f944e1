import CLinux
import Glibc
import Threading

/// The program that holds a port, as far as `/proc` shows it to us.
enum PortHolder {
    enum Kind: String {
        case tcp, udp
    }

    /// `nginx (process 812)`; nil if the holder is another user's, which only root can see.
    static func find(_ kind: Kind, _ port: UInt16) -> String? {
        let sockets = ["", "6"].flatMap { inodes(in: "/proc/net/\(kind.rawValue)\($0)", kind, port) }
        guard !sockets.isEmpty else { return nil }
        for name in fileNames(in: "/proc") {
            guard let process = Int32(name), holds(process, sockets) else { continue }
            let program = TextFile.read("/proc/\(process)/comm")?.trimmed ?? "a program"
            return "\(program) (process \(process))"
        }
        return nil
    }

    /// The inodes of the sockets at a port, from a table as in proc(5): local address in the second column, state in
    /// the fourth, inode in the tenth.
    private static func inodes(in table: String, _ kind: Kind, _ port: UInt16) -> [String] {
        guard let text = TextFile.read(table) else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ")
            guard columns.count > 9, let colon = columns[1].lastIndex(of: ":"),
                UInt16(columns[1][columns[1].index(after: colon)...], radix: 16) == port,
                // 0A is LISTEN; UDP has no such state.
                kind == .udp || columns[3] == "0A", columns[9] != "0"
            else { return nil }
            return "socket:[\(columns[9])]"
        }
    }

    private static func holds(_ process: Int32, _ sockets: [String]) -> Bool {
        let folder = "/proc/\(process)/fd"
        var buffer = [CChar](repeating: 0, count: 64)
        for name in fileNames(in: folder) {
            let count = readlink("\(folder)/\(name)", &buffer, buffer.count)
            guard count > 0 else { continue }
            let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if sockets.contains(target) { return true }
        }
        return false
    }
}
