/// What a key of the window does.
enum WindowAction {
    case fit, actual, toggleFullScreen, leaveFullScreen

    /// The action of the key with these keysyms, with or without Shift: some keyboards have digits only with it. The
    /// first one that has an action counts. X11 and Wayland have the same keysyms.
    init?(_ symbols: some Sequence<UInt32>) {
        for symbol in symbols {
            switch symbol {
            case 0x77, 0x30: self = .fit
            case 0x31: self = .actual
            case 0x66: self = .toggleFullScreen
            case 0xFF1B: self = .leaveFullScreen
            default: continue
            }
            return
        }
        return nil
    }
}
