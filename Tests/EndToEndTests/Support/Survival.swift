import BrowserDriver
import Glibc
import MediaTypes
import TestSupport

/// The processes and resources around something that is killed.
enum Survival {
    /// The processes that `parent` has started and that have not been reaped.
    static func children(of parent: Int32) throws -> [Int32] {
        try numbers(in: "/proc").filter { process in
            guard let bytes = try? fileBytes("/proc/\(process)/stat") else { return false }
            // "PID (NAME) STATE PPID ...", where the name may contain any character.
            let rest = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
            return rest.map { $0.count > 1 && $0[1] == "\(parent)" } ?? false
        }
    }

    /// The threads of a process.
    static func threads(of process: Int32) throws -> [Int32] { try numbers(in: "/proc/\(process)/task") }

    /// The shared memory files with a name that a process maps or has open; they would outlive it.
    static func sharedFiles(of process: Int32) throws -> [String] {
        let maps = String(decoding: try fileBytes("/proc/\(process)/maps"), as: UTF8.self)
        return maps.split(separator: "\n").map(String.init).filter { $0.contains("/dev/shm/") }
            + (try descriptors(of: process).filter { $0.hasPrefix("/dev/shm/") })
    }

    /// What a process's descriptors are, without their numbers: "socket", "anon_inode", a memfd's or a file's name.
    static func descriptors(of process: Int32) throws -> [String] {
        try names(in: "/proc/\(process)/fd").compactMap { name in
            var buffer = [CChar](repeating: 0, count: 512)
            let count = readlink("/proc/\(process)/fd/\(name)", &buffer, buffer.count)
            guard count > 0 else { return nil }
            let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return target.hasPrefix("/") ? target : String(target.prefix { $0 != ":" })
        }.sorted()
    }

    /// The value at `share` (0...1) of sorted values; 0 if there are none.
    static func percentile(_ share: Double, of values: [Double]) -> Double {
        let sorted = values.sorted()
        let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
        return sorted.indices.contains(index) ? sorted[index] : sorted.first ?? 0
    }

    /// How often a test repeats what it does: a number from the environment, set by `Tools/soak`.
    static func count(_ variable: String, default usual: Int) -> Int {
        getenv(variable).flatMap { Int(String(cString: $0)) } ?? usual
    }

    private static func numbers(in folder: String) throws -> [Int32] { try names(in: folder).compactMap { Int32($0) } }

    private static func names(in folder: String) throws -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension ViewerPage {
    /// Follows the scene's counter in the page itself: when it last changed, and the longest time that it stood still.
    func followCounter() throws {
        try page.evaluate(
            """
            window.follow = { value: null, at: performance.now(), longest: 0, changes: 0,
              begin() { this.longest = 0; this.changes = 0; } };
            (() => {
              const video = document.querySelector('video');
              const canvas = document.createElement('canvas');
              const context = canvas.getContext('2d', { willReadFrequently: true });
              const look = () => {
                video.requestVideoFrameCallback(look);
                // Scaled down, each of the sixteen cells of the barcode's upper row is three columns wide.
                canvas.width = 48;
                canvas.height = 1;
                const { videoWidth: width, videoHeight: height } = video;
                context.drawImage(
                  video, width / 32, height * 21 / 32 + height / 36, width * 15 / 16, height / 36, 0, 0, 48, 1);
                const bytes = context.getImageData(0, 0, 48, 1).data;
                let value = 0;
                for (let bit = 0; bit < 16; bit++) value = value * 2 + (bytes[(3 * bit + 1) * 4 + 1] > 128 ? 1 : 0);
                const now = performance.now();
                if (value === follow.value) return;
                if (follow.value !== null) {
                  follow.longest = Math.max(follow.longest, now - follow.at);
                  follow.changes += 1;
                }
                follow.value = value;
                follow.at = now;
              };
              video.requestVideoFrameCallback(look);
            })()
            """)
    }

    /// Forgets what was measured so far; the time since the last change keeps counting.
    func beginFollowing() throws { try page.evaluate("follow.begin()") }

    /// How many times the counter has changed since then, and the longest time in milliseconds that it stood still.
    func followed() throws -> (changes: Int, longest: Double) {
        let value = try page.evaluate("({ changes: follow.changes, longest: follow.longest })")
        return (value["changes"].int ?? 0, value["longest"].number ?? .infinity)
    }
}
