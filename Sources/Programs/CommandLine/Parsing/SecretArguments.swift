import Glibc

/// Makes secrets of the command line unreadable: `ps` and `/proc` show every user the arguments of every process.
public enum SecretArguments {
    /// Overwrites `secrets` where the system reads this process's arguments. The process's own copies stay. Without
    /// `/proc`, nothing happens, and other processes can't read them either.
    public static func hide(_ secrets: [String]) {
        guard let place = place() else { return }
        for secret in secrets where !secret.isEmpty {
            let bytes = Array(secret.utf8)
            var start = 0
            while start + bytes.count <= place.count {
                if bytes.elementsEqual(place[start..<(start + bytes.count)]) {
                    for index in start..<(start + bytes.count) { place[index] = UInt8(ascii: "x") }
                }
                start += 1
            }
        }
    }

    /// The arguments in this process's memory (proc(5), `/proc/pid/stat`, fields 48 and 49).
    private static func place() -> UnsafeMutableBufferPointer<UInt8>? {
        guard let file = fopen("/proc/self/stat", "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        // The second field is the program's name in parentheses, which may contain anything.
        guard let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: buffer[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        guard fields.count > 46, let first = UInt(fields[45]), let last = UInt(fields[46]), first > 0, last > first,
            last - first <= 16 << 20
        else { return nil }
        return UnsafeMutableBufferPointer(
            start: UnsafeMutablePointer(bitPattern: first), count: Int(last - first))
    }
}
