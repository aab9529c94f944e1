import TestSupport
import Testing

@testable import Diagnosis

@Suite("How many viewers a machine can serve")
struct ViewerCapacityTests {
    private static let small = ViewerCapacity(processors: 2, files: 8448)
    /// Its first line, which is also the example in `Documentation/operating.md`.
    private static let line =
        "Viewers: one host here can serve about 520 of scrolling text, or 270 of full-screen motion "
        + "(2 processors, open files for 4096; Documentation/scale.md)"

    @Test(
        "capture has two processors, and the others have up to eight media threads that carry 90 % of one each",
        arguments: [
            (1, 520, 270), (2, 520, 270), (3, 520, 270), (4, 936, 486), (5, 1404, 729), (10, 3744, 1944),
            (64, 3744, 1944),
        ])
    func processors(_ processors: Int, _ text: Int, _ motion: Int) {
        let capacity = ViewerCapacity(processors: processors, files: .max)
        #expect(capacity.ofText == text)
        #expect(capacity.inMotion == motion)
    }

    @Test("a low limit of open files leaves fewer viewers")
    func files() {
        let capacity = ViewerCapacity(processors: 2, files: 1024)
        #expect(capacity.ofText == 384)
        #expect(capacity.inMotion == 270)
        #expect(ViewerCapacity(processors: 2, files: 0).ofText == 0)
    }

    @Test("one host, more cores, more machines and caches follow each other as viewers become more")
    func arrangements() {
        let large = ViewerCapacity(processors: 5, files: 8448)
        for count in [0, 10, 520] {
            #expect(Self.small.arrangements(for: count) == [.oneHost])
            #expect(large.arrangements(for: count) == [.oneHost])
        }
        for count in [521, 1000, 1404] {
            #expect(Self.small.arrangements(for: count) == [.severalHosts, .tree])
            #expect(large.arrangements(for: count) == [.severalCores])
        }
        for capacity in [Self.small, large] {
            #expect(capacity.arrangements(for: 8500) == [.severalHosts, .tree])
            #expect(capacity.arrangements(for: 8501) == [.caches])
            #expect(capacity.arrangements(for: 100_000) == [.caches])
        }
    }

    @Test("the lines name what this machine can serve, and what to take for 10, 1000 and 100000")
    func lines() {
        let lines = Self.small.lines
        #expect(lines.count == 4)
        #expect(lines.first == Self.line)
        #expect(
            lines.last
                == "Viewers: for 100000, HLS through caches (per viewer: 0.08 ms of CPU time per second at an edge)")
        let single = ViewerCapacity(processors: 1, files: 8448).lines
        #expect(single.first?.contains("fewer than 520 of scrolling text") == true)
        #expect(single.first?.contains("(1 processor, ") == true)
    }

    @Test("the figures are those of the document")
    func documented() throws {
        let document = String(decoding: try fileBytes(packageRoot + "/Documentation/scale.md"), as: UTF8.self)
        for figures in [
            "| scrolling text | 1.32 | 255 KiB | \(ViewerCapacity.perCore.text) |",
            "| full-screen motion | 2.55 | 299 KiB | \(ViewerCapacity.perCore.motion) |",
            "| scrolling text | 1,350 | 850 | 8,500 |",
        ] {
            #expect(document.contains(figures), "\(figures)")
        }
        #expect(ViewerCapacity.atTenServers == 8500)
        for arrangement in ViewerArrangement.allCases {
            #expect(document.contains("| \(arrangement.cost)"), "\(arrangement)")
        }
        let guide = String(decoding: try fileBytes(packageRoot + "/Documentation/operating.md"), as: UTF8.self)
        #expect(guide.contains("\n\(Self.line)\n"))
    }
}
