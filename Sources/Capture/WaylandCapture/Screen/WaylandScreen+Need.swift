import Clocks
import MediaTypes
import Threading

/// Whether pictures are needed, and what to do while one is missing.
extension WaylandScreen {
    public func setNeeded(_ isNeeded: Bool) {
        owner.check()
        settle()
        stream.setActive(isNeeded)
        isOutdated = isNeeded && stream.isPictureMissing
        resumption = isOutdated ? Resumption(at: .now()) : nil
    }

    /// Asks for a picture that is missing, again and again until it has arrived or the compositor has had enough time.
    func askForMissing(_ now: MonotonicTime) {
        if stream.nextLook != nil {
            isOutdated = false
            // While pictures arrive, another one may be on its way at each look, and isn't lost for that reason.
            if resumption?.hasPaused == false { resumption = nil }
        }
        guard stream.isPictureMissing else {
            if resumption != nil, stream.isPaused { stream.setPaused(false) }
            isOutdated = false
            resumption = nil
            return
        }
        var current = resumption ?? Resumption(at: now)
        switch current.step(now) {
        case .wait: break
        case .pause: stream.setPaused(true)
        case .goOn: stream.setPaused(false)
        case .giveUp:
            if isOutdated { onWarning("the desktop sends no new picture, so its last one is shown") }
            isOutdated = false
            stream.giveUpMissing()
        }
        resumption = stream.isPictureMissing ? current : nil
    }
}
