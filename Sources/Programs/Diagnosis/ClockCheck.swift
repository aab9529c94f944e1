import CLinux
import Glibc
import SecureTransport

/// Whether this machine's clock is wrong, as far as this machine itself can know it: TURN servers with a shared secret
/// are asked apart.
///
/// A clock that the kernel says is kept right (NTP) is believed.
struct ClockCheck {
    let plan: SharePlan
    /// The wall clock's time, in seconds since 1970.
    let now: Int
    var isSynchronized = shim_clock_is_synchronized() != 0
    /// The hardware clock's time, and the file that says whether that is local time.
    var hardware = (time: "/sys/class/rtc/rtc0/since_epoch", kind: "/etc/adjtime")
    /// Files that the system touches while it runs, by which a clock that was set back shows.
    var touched = [
        "/var/lib/systemd/timesync/clock", "/var/lib/NetworkManager/timestamps", "/var/log/wtmp", "/var/log/lastlog",
    ]

    /// A clock that is off by less is not reported, in seconds.
    private static let tolerance = 1800

    func findings() -> [Finding] {
        if isSynchronized { return certificateFindings() }
        var findings = certificateFindings()
        if let difference = hardwareDifference(), abs(difference) > Self.tolerance {
            findings.append(
                wrong(
                    "this machine's clock is \(Self.span(difference)) \(difference > 0 ? "ahead of" : "behind") its "
                        + "hardware clock"))
        }
        let latest = (touched + plan.secretFiles).compactMap(Self.changed).max { $0.time < $1.time }
        if let latest, latest.time > now + Self.tolerance {
            findings.append(
                wrong(
                    "\(latest.path) was changed \(Self.span(latest.time - now)) in the future, by this machine's clock")
            )
        }
        return findings
    }

    private func wrong(_ what: String) -> Finding {
        Finding(
            "clock", "\(what), and the kernel says that it isn't synchronized",
            todo: "set it, for example by 'timedatectl set-ntp true'; browsers refuse certificates, and TURN servers "
                + "credentials, by a wrong clock")
    }

    private func certificateFindings() -> [Finding] {
        guard let certificate = plan.certificate else { return [] }
        if certificate.isExpired {
            return [
                Finding("certificate", "--tls-cert: the certificate has expired: browsers refuse it", todo: "renew it")
            ]
        }
        guard certificate.isNotYetValid else { return [] }
        return [
            Finding(
                "clock", "--tls-cert: by this machine's clock, the certificate isn't valid yet",
                todo: "set this machine's clock, or the clock of the machine on which the certificate was made")
        ]
    }

    /// How far our clock is ahead of the hardware clock, in seconds; nil if that isn't known.
    private func hardwareDifference() -> Int? {
        guard let time = TextFile.read(hardware.time)?.trimmed, let time = Int(time), time > 0 else { return nil }
        // The third line says LOCAL or UTC (hwclock(8)). Local time differs by hours, and by right.
        if TextFile.read(hardware.kind)?.split(separator: "\n").last == "LOCAL" { return nil }
        return now - time
    }

    private static func changed(_ path: String) -> (path: String, time: Int)? {
        var status = stat()
        return stat(path, &status) == 0 ? (path, Int(status.st_mtim.tv_sec)) : nil
    }

    /// `58 minutes`, `26 hours`
    private static func span(_ seconds: Int) -> String {
        let minutes = abs(seconds) / 60
        return minutes < 120 ? "\(minutes) minutes" : "\(minutes / 60) hours"
    }
}
