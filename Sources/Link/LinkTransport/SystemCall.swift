import Glibc

/// Runs a system call again while signals interrupt it; gives its value, and errno where that is negative (else 0).
func retryingInterrupted<Value: SignedInteger>(_ call: () -> Value) -> (value: Value, code: Int32) {
    while true {
        let value = call()
        if value >= 0 { return (value, 0) }
        let code = errno
        if code != EINTR { return (value, code) }
    }
}

/// Runs a system call; the one place where errno becomes a thrown value.
@discardableResult
func systemCall<Value: SignedInteger>(
    _ name: String, on subject: String = "", _ call: () -> Value
) throws(LinkTransportError) -> Value {
    let (value, code) = retryingInterrupted(call)
    if code != 0 { throw .system(call: name, subject: subject, code: code) }
    return value
}
