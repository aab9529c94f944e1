import Glibc

/// Repeats a system call while signals interrupt it. Returns its value, and errno if the value is negative (otherwise
/// 0).
func retryingInterrupted<Value: SignedInteger>(_ call: () -> Value) -> (value: Value, code: Int32) {
    while true {
        let value = call()
        if value >= 0 { return (value, 0) }
        let code = errno
        if code != EINTR { return (value, code) }
    }
}

/// Runs a system call. This is the only place where errno becomes a thrown error.
@discardableResult
func systemCall<Value: SignedInteger>(
    _ name: String, on subject: String = "", _ call: () -> Value
) throws(SocketError) -> Value {
    let (value, code) = retryingInterrupted(call)
    if code != 0 { throw .system(call: name, subject: subject, code: code) }
    return value
}
