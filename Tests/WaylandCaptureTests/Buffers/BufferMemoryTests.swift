import CPipeWire
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

    /// What libpipewire says about a block of memory.
    private func block(_ kind: UInt32, at base: UnsafeMutableRawPointer? = nil, count: Int = 0) -> spa_data {
        var block = spa_data()
        block.type = kind
        block.data = base
        block.maxsize = UInt32(count)
        return block
    }

    /// The memory of a buffer with this block; nil for a buffer without any.
    private func memory(of block: spa_data?) throws -> BufferMemory {
        var blocks = [block ?? spa_data()]
        return try blocks.withUnsafeMutableBufferPointer { blocks in
            var content = spa_buffer()
            content.n_datas = block == nil ? 0 : 1
            content.datas = blocks.baseAddress
            return try withUnsafeMutablePointer(to: &content) { pointer in
                var buffer = pw_buffer()
                buffer.buffer = pointer
                return try withUnsafeMutablePointer(to: &buffer) { try CastStream.memory(of: $0) }
            }
        }
    }

    @Test("memory that libpipewire has mapped is read where it is, and stays mapped")
    func mappedBefore() throws {
        let pages = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 4096)
        defer { pages.deallocate() }
        for index in pages.indices { pages[index] = UInt8(index % 10) }
        let base = try #require(pages.baseAddress)
        do {
            let memory = try memory(of: block(SPA_DATA_MemPtr.rawValue, at: base, count: 8000))
            memory.release()
            #expect(throws: Never.self) { try memory.check() }
            #expect(memory.base == UnsafeRawPointer(base) && memory.count == 8000)
            #expect(memory.base.load(fromByteOffset: 7999, as: UInt8.self) == 9)
        }
        #expect(pages[7999] == 9)
    }

    @Test("memory of another kind is refused by name, and so is a buffer without memory")
    func otherKinds() {
        for (kind, text) in [
            (SPA_DATA_DmaBuf.rawValue, "a picture in the memory of a graphics card (DMA-BUF)"),
            (SPA_DATA_MemId.rawValue, "memory of kind 4"), (UInt32.max, "memory of kind 4294967295"),
        ] {
            #expect(throws: BufferFault.unsupportedMemory(kind)) { try memory(of: block(kind, count: 8000)) }
            #expect(BufferFault.unsupportedMemory(kind).description == text)
        }
        #expect(throws: BufferFault.noMemory) { try memory(of: block(SPA_DATA_MemPtr.rawValue, count: 8000)) }
        #expect(throws: BufferFault.noMemory) { try memory(of: nil) }
    }
}
