import Glibc
public import MediaTypes
internal import Processes

/// An H.264 stream in Annex B format that tests read.
public struct TestStream: Sendable, CustomStringConvertible {
    /// The name of its file.
    public let name: String
    /// The path of its file.
    public let path: String
    /// How many pictures it has; nil if nobody has counted them.
    public let pictures: Int?
    /// The size of its pictures; nil if nobody has looked.
    public let size: PictureSize?
    /// Whether something is missing or broken in it on purpose, so that there is no right way to decode it.
    public let isDamaged: Bool

    public var description: String { name }

    /// The file's content.
    public func bytes() throws -> [UInt8] { try fileBytes(path) }
}

/// The H.264 streams that tests read.
///
/// FFmpeg makes them when the first test asks for one, in a folder of the build, so that a checkout needs nothing else.
/// If the environment variable SCREENRELAY_STREAMS names a folder with more streams, such as those of the conformance
/// suite, every test that takes any stream reads them as well.
public enum TestStreams {
    /// All streams: the ones that FFmpeg made, then those of the folder that SCREENRELAY_STREAMS names.
    public static let all: [TestStream] = made + further

    /// The streams that are not broken, and whose number of pictures and size are known.
    public static var intact: [TestStream] { all.filter { !$0.isDamaged && $0.pictures != nil } }

    /// The streams in which something is missing or broken on purpose.
    public static var damaged: [TestStream] { all.filter(\.isDamaged) }

    /// 100 small pictures of the baseline profile, of which every 25th is an IDR picture.
    public static var small: TestStream { made[0] }

    /// 19 pictures of 1280x720, of which only the first is an IDR picture: what the original ReplayKit demo sends.
    public static var desktop: TestStream { made[1] }

    private static let folder = packageRoot + "/.build/test-streams"

    /// How FFmpeg makes a stream: the size and number of the pictures, and the options of its encoder.
    private struct Recipe {
        let name: String
        let size: PictureSize
        let pictures: Int
        let profile: String
        let parameters: String
    }

    private static let recipes = [
        Recipe(
            name: "small", size: PictureSize(width: 176, height: 144), pictures: 100, profile: "baseline",
            parameters: "keyint=25:min-keyint=25:scenecut=0"),
        Recipe(
            name: "desktop", size: PictureSize(width: 1280, height: 720), pictures: 19, profile: "baseline",
            parameters: "keyint=infinite:scenecut=0:ref=1"),
        Recipe(
            name: "slices", size: PictureSize(width: 176, height: 144), pictures: 60, profile: "baseline",
            parameters: "keyint=30:min-keyint=30:scenecut=0:slices=4"),
        Recipe(
            name: "references", size: PictureSize(width: 176, height: 144), pictures: 100, profile: "main",
            parameters: "keyint=infinite:scenecut=0:ref=5:bframes=0"),
        Recipe(
            name: "every-idr", size: PictureSize(width: 176, height: 144), pictures: 17, profile: "high",
            parameters: "keyint=1"),
        Recipe(
            name: "cropped", size: PictureSize(width: 322, height: 182), pictures: 9, profile: "high",
            parameters: "keyint=5:min-keyint=5:scenecut=0:bframes=0:slices=2"),
    ]

    private static let made: [TestStream] = {
        do {
            mkdir(packageRoot + "/.build", 0o755)
            mkdir(folder, 0o755)
            let intact = try recipes.map(make)
            return try intact + damagedCopies(of: intact[0])
        } catch {
            preconditionFailure("FFmpeg could not make the tests' streams: \(error)")
        }
    }()

    private static func make(_ recipe: Recipe) throws -> TestStream {
        let size = "\(recipe.size.width)x\(recipe.size.height)"
        // The colours are pale, because browsers and FFmpeg interpret a stream that doesn't describe its colours
        // differently. One thread makes the output the same bytes each time.
        let result = try FFmpeg.run([
            "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25,hue=s=0.2", "-frames:v",
            "\(recipe.pictures)",
            "-pix_fmt", "yuv420p", "-c:v", "libx264", "-profile:v", recipe.profile, "-preset", "veryfast",
            "-x264-params", "threads=1:" + recipe.parameters, "-f", "h264", "pipe:1",
        ])
        guard result.status == .exited(0), !result.bytes.isEmpty else { throw StreamError(what: result.messages) }
        return try write(result.bytes, recipe.name, pictures: recipe.pictures, size: recipe.size)
    }

    /// The stream without its first IDR picture, without one P picture, and with a broken slice.
    private static func damagedCopies(of stream: TestStream) throws -> [TestStream] {
        let bytes = try stream.bytes()
        let starts = bytes.indices.dropLast(4).filter { Array(bytes[$0..<$0 + 3]) == [0, 0, 1] }
        func units(_ type: UInt8) -> [Range<Int>] {
            zip(starts, starts.dropFirst() + [bytes.count]).map { $0..<$1 }.filter {
                bytes[$0.lowerBound + 3] & 0x1F == type
            }
        }
        let (idrs, others) = (units(5), units(1))
        guard idrs.count > 1, others.count > 30 else { throw StreamError(what: "too few pictures") }
        var broken = bytes
        // The last bit of the byte after the NAL unit header is the first of frame_num; the rest is coded data.
        broken[others[10].lowerBound + 4] ^= 1
        for index in others[10].dropFirst(12) where broken[index] > 3 { broken[index] = ~broken[index] | 4 }
        return [
            try write(bytes[..<idrs[0].lowerBound] + bytes[idrs[0].upperBound...], "lost-idr"),
            try write(bytes[..<others[30].lowerBound] + bytes[others[30].upperBound...], "lost-p"),
            try write(broken[...], "broken-slice"),
        ]
    }

    private static func write(
        _ bytes: some Sequence<UInt8>, _ name: String, pictures: Int? = nil, size: PictureSize? = nil
    ) throws -> TestStream {
        let path = folder + "/" + name + ".h264"
        // Another test run may be reading the same file.
        let own = path + ".\(getpid())"
        let bytes = Array(bytes)
        let file = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw StreamError(what: own) }
        let written = Glibc.write(file, bytes, bytes.count)
        close(file)
        guard written == bytes.count, rename(own, path) == 0 else { throw StreamError(what: own) }
        return TestStream(name: name + ".h264", path: path, pictures: pictures, size: size, isDamaged: pictures == nil)
    }

    private struct StreamError: Error {
        let what: String
    }

    // MARK: More streams

    private static let quarter = PictureSize(width: 176, height: 144)

    /// What is known of the conformance suite's streams: the number of pictures, as an independent decoder counts them,
    /// and the size.
    private static let known: [String: (pictures: Int, size: PictureSize)] = [
        "Adobe_PDF_sample_a_1024x768_50Frms.264": (50, PictureSize(width: 1024, height: 768)),
        "BA_MW_D.264": (100, quarter), "CI_MW_D.264": (100, quarter), "MIDR_MW_D.264": (100, quarter),
        "MPS_MW_A.264": (150, quarter), "NRF_MW_E.264": (100, quarter), "SVA_BA2_D.264": (17, quarter),
        "SVA_Base_B.264": (17, quarter), "SVA_FM1_E.264": (17, quarter),
        "Zhling_1280x720.264": (19, PictureSize(width: 1280, height: 720)),
        "test_vd_1d.264": (9, PictureSize(width: 320, height: 192)), "BASQP1_Sony_C.jsv": (4, quarter),
    ]

    private static let further: [TestStream] = {
        guard let named = getenv("SCREENRELAY_STREAMS"), named.pointee != 0 else { return [] }
        let folder = String(cString: named)
        guard let directory = opendir(folder) else { preconditionFailure("SCREENRELAY_STREAMS: no folder \(folder)") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = entryName(entry)
            if [".264", ".jsv", ".avc", ".26l", ".h264"].contains(where: name.hasSuffix) { names.append(name) }
        }
        return names.sorted().map { name in
            TestStream(
                name: name, path: folder + "/" + name, pictures: known[name]?.pictures, size: known[name]?.size,
                isDamaged: name.contains("LOST") || name.contains("Error"))
        }
    }()
}

/// The package's folder, taken from where this file was when it was compiled.
public let packageRoot: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(4).joined(separator: "/")
}()
