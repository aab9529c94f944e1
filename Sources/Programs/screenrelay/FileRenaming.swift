import CLinux
import Glibc

/// Gives a file another name that no file has; gives 0 or the errno, EEXIST where one has it.
func renameUnlessThere(_ from: String, _ to: String) -> Int32 {
    // RENAME_NOREPLACE (renameat2(2)): nobody can come in between.
    if renameat2(AT_FDCWD, from, AT_FDCWD, to, 1) == 0 { return 0 }
    // A file system that has no such renaming.
    guard errno == EINVAL || errno == ENOSYS else { return errno }
    if access(to, F_OK) == 0 { return EEXIST }
    return rename(from, to) == 0 ? 0 : errno
}
