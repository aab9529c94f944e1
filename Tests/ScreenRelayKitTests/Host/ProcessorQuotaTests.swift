import Glibc
import TestSupport
import Testing

@testable import ScreenRelayKit

@Suite("Processor quotas")
struct ProcessorQuotaTests {
    @Test("the tightest quota of a group and the groups above it counts, in whole processors")
    func tightest() throws {
        let folder = try TemporaryFolder()
        func make(_ group: String, _ quota: String) throws {
            mkdir(folder.file(group), 0o700)
            try folder.write("\(group)/cpu.max", Array((quota + "\n").utf8))
        }
        try make("sys", "max 100000")
        try make("sys/a.slice", "max 100000")
        try make("sys/a.slice/host.service", "max 100000")
        let quota = ProcessorQuota(
            groups: try folder.write("own", Array("3:cpu:/x\n0::/a.slice/host.service\n".utf8)),
            mount: folder.file("sys"))
        #expect(quota.processors == nil)
        try make("sys/a.slice/host.service", "350000 100000")
        #expect(quota.processors == 3)
        try make("sys/a.slice", "50000 100000")
        #expect(quota.processors == 1)
        // The group of a container that sees no other one.
        try folder.write("own", Array("0::/\n".utf8))
        #expect(quota.processors == nil)
        try make("sys", "200000 100000")
        #expect(quota.processors == 2)
        for text in ["", "0::/../x\n", "1:name=systemd:/a.slice\n"] {
            try folder.write("own", Array(text.utf8))
            #expect(quota.processors == (text.hasPrefix("0::") ? 2 : nil))
        }
        try make("sys", "many 0")
        try folder.write("own", Array("0::/\n".utf8))
        #expect(quota.processors == nil)
    }
}
