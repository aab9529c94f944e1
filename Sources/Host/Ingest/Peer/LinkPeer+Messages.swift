import CaptureLink
import MediaTypes
import Threading
import TrackHub

/// What a peer's messages do.
extension LinkPeer {
    /// Handles a message. Returns false if that ended the connection.
    func take(_ message: ReceivedMessage, now: MonotonicTime) -> Bool {
        if let check, message.form == .extended || !mayBeLegacy {
            guard let proof = check.proof(for: message.body) else {
                refuse()
                return false
            }
            self.check = nil
            decoder.limits = LinkLimits()
            send(proof)
            return true
        }
        check = nil
        let isOfSound = message.header.stream == MessageHeader.soundStream
        switch message.body {
        case .answer:
            // A host without a token has sent no challenge, so the answer means nothing.
            return true
        case .hello(let hello):
            if let (why, text) = hello.refusal {
                end(why, text)
                return false
            }
            take(hello, isOfSound: isOfSound, now: now)
        case .pong(let echo):
            if let timing = pictures.take(echo, now) { source.timing = timing }
        case .end(let notice):
            reason = notice.text.isEmpty ? "\(notice.reason)" : notice.text
        default:
            break
        }
        if isFirstMessage {
            isFirstMessage = false
            guard begin(with: message, isOfSound: isOfSound, now: now) else { return false }
        }
        if isOfSound {
            takeSound(message, now: now)
        } else if isAttached {
            takePictures(message, now: now)
        }
        return true
    }

    private func take(_ hello: Hello, isOfSound: Bool, now: MonotonicTime) {
        // Only the first hello counts: a slow disk may hold back a replay, but must not begin to hold back a capture.
        if greeting.isEmpty {
            pictures.isReplay = hello.role == .replay
            recording?.isLossless = pictures.isReplay
        }
        pictures.greeted()
        greeting = "\(hello.role) \(hello.name) (process \(hello.processID))"
        if isSource { log.info("link: \(greeting) has connected") }
        guard !isOfSound else { return }
        source.greeted(with: hello)
        if isAttached { ingest.hub.abilitiesChanged(of: source, now: now) }
    }

    /// Makes the peer the source that its first message says it is. Returns false if there is another one, which ended
    /// the connection.
    private func begin(with message: ReceivedMessage, isOfSound: Bool, now: MonotonicTime) -> Bool {
        if isOfSound {
            encoder = PeerAudio.encoder
            guard sound.attach(isReplay: pictures.isReplay, now: now) else {
                onSoundRefusal(now)
                end(.refused, "another sound capture is connected to this host")
                return false
            }
            if !pictures.isReplay { soundSilence = AudioSilence(timeout: silence.timeout) }
        } else {
            isAttached = ingest.attach(source) || evictsStalledSource(now) && ingest.attach(source)
            guard isAttached else {
                end(.refused, "another capture is connected to this host")
                return false
            }
        }
        watcher?.onEvent(.arrived)
        recording?.begin(at: now, hasPictures: isAttached)
        if message.form != .extended { greeting = "a legacy sender (\(message.form))" }
        if !greeting.isEmpty { log.info("link: \(greeting) has connected") }
        return true
    }

    private func takeSound(_ message: ReceivedMessage, now: MonotonicTime) {
        // The sound of a replay comes behind its pictures. It is ignored if the track has another.
        guard sound.attach(isReplay: pictures.isReplay, now: now) else { return }
        sound.take(message, &pictures, now: now)
    }

    private func takePictures(_ message: ReceivedMessage, now: MonotonicTime) {
        // Further streams are only counted.
        guard message.header.stream == 0 else { return pictures.add(message, at: now) }
        switch message.body {
        case .size(let size):
            log.info("link: pictures of \(size)")
            watcher?.onEvent(.size(size))
        case .statistics(let done):
            log.debug("link: capture has made \(done.summary)")
            ingest.hub.statisticsChanged(
                of: source, to: done, epoch: message.header.epoch, stages: pictures.stages, now: now)
        case .sharing(let state):
            ingest.hub.sharingChanged(of: source, to: state)
        default:
            break
        }
        for report in pointer.take(message) { ingest.hub.report(report, from: source) }
        pictures.add(message, at: now)
        if source.makesKeyFrames, recording?.wantsKeyFrame(behind: message.body, at: now) == true {
            source.requestKeyFrame()
        }
        deliver(now: now)
    }

    /// Delivers the pictures that are complete.
    func deliver(now: MonotonicTime) {
        while let (frame, epoch) = pictures.next(now) {
            ingest.deliver(frame, from: source, epoch: epoch, arrival: now)
        }
        pictures.logFaults(now)
    }
}
