import CLinux
import Glibc

/// Maps an anonymous file of `count` bytes, which a display's server maps too; nil if that isn't possible. The caller
/// unmaps the memory and closes the file.
func mappedFile(of count: Int) -> (base: UnsafeMutableRawPointer, file: Int32)? {
    let file = memfd_create("screenrelay-view", shim_MFD_CLOEXEC)
    guard file >= 0 else { return nil }
    guard ftruncate(file, off_t(count)) == 0,
        let base = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED
    else {
        close(file)
        return nil
    }
    return (base, file)
}
