import Glibc
import Testing

@testable import WaylandCapture

@Suite("memory of a buffer")
struct BufferMemoryTests {
    /// Passes an unnamed file of `count` bytes to `body`, each of which is the last digit of its offset.
    private func withFile(_ count: Int, _ body: (Int32) throws -> Void) throws {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        let bytes = (0..<count).map { UInt8($0 % 10) }
        #expect(fwrite(bytes, 1, count, file) == count)
        fflush(file)
        try body(fileno(file))
    }

    @Test("a part of a file is mapped, from any offset")
    func mapped() throws {
        try withFile(20_000) { file in
            let memory = try BufferMemory(file: file, offset: 5003, count: 10_000)
            memory.release()
            #expect(memory.count == 10_000)
            #expect(memory.base.load(as: UInt8.self) == 3)
            #expect(memory.base.load(fromByteOffset: 9999, as: UInt8.self) == 2)
            #expect(throws: Never.self) { try memory.check() }
        }
    }

    @Test("a file that is too short is refused, at first and when it has become shorter")
    func short() throws {
        try withFile(20_000) { file in
            #expect(throws: BufferFault.fileTooShort(bytes: 20_000, needed: 20_001)) {
                try BufferMemory(file: file, offset: 1, count: 20_000)
            }
            #expect(throws: BufferFault.noMemory) { try BufferMemory(file: file, offset: 0, count: 0) }
            let memory = try BufferMemory(file: file, offset: 0, count: 20_000)
            #expect(ftruncate(file, 4096) == 0)
            #expect(throws: BufferFault.fileTooShort(bytes: 4096, needed: 20_000)) { try memory.check() }
        }
        #expect(throws: BufferFault.notMapped(code: EBADF)) { try BufferMemory(file: -1, offset: 0, count: 1) }
    }
}
