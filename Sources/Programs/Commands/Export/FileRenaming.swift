import CLinux
import Glibc

/// Renames a file unless the new name is taken. Returns 0 or an errno, which is EEXIST if the name is taken.
func renameUnlessThere(_ from: String, _ to: String) -> Int32 {
    // RENAME_NOREPLACE (renameat2(2)) makes this atomic.
    if renameat2(AT_FDCWD, from, AT_FDCWD, to, 1) == 0 { return 0 }
    // Continue only if the file system doesn't support it.
    guard errno == EINVAL || errno == ENOSYS else { return errno }
    if access(to, F_OK) == 0 { return EEXIST }
    return rename(from, to) == 0 ? 0 : errno
}
