import Glibc

/// The reference H.264 streams that some tests read. They aren't part of the checkout: their folder is named by the
/// environment variable SCREENRELAY_STREAMS, and is `../shared/streams` beside the package otherwise.
public enum ReferenceStreams {
    /// The folder that holds them, whether it exists or not.
    public static let folder: String = {
        if let named = getenv("SCREENRELAY_STREAMS"), named.pointee != 0 { return String(cString: named) }
        return packageRoot + "/../shared/streams"
    }()

    /// Whether there are any; a test that needs them says `.enabled(if: ReferenceStreams.isAvailable)`.
    public static var isAvailable: Bool { !names.isEmpty }

    /// The names of all streams, sorted.
    public static let names: [String] = {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = entryName(entry)
            if [".264", ".jsv", ".avc", ".26l", ".h264"].contains(where: name.hasSuffix) { names.append(name) }
        }
        return names.sorted()
    }()

    /// The path of the stream called `name`.
    public static func path(_ name: String) -> String { folder + "/" + name }

    /// The bytes of the stream called `name`.
    public static func bytes(_ name: String) throws -> [UInt8] {
        try fileBytes(path(name))
    }
}

/// The package's folder, known from where this file was when it was compiled.
public let packageRoot: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(3).joined(separator: "/")
}()
