/// The systemd unit that starts a share with a user's graphical session (systemd.service(5)).
public enum ServiceUnit {
    /// The unit's text. `program` is the path of the program to start.
    public static func text(program: String) -> String {
        """
        [Unit]
        Description=ScreenRelay: shares this screen to a room
        Documentation=man:screenrelay-share(1)
        PartOf=graphical-session.target
        After=graphical-session.target

        [Service]
        # Options are in ~/.config/screenrelay/config. 'screenrelay link' prints the invite link, which is not in the journal.
        ExecStart=\(quoted(program)) share --no-qr
        # Viewers are told that sharing has ended.
        ExecStop=\(quoted(program)) stop --pid $MAINPID
        Restart=on-failure
        RestartSec=5
        # A restart would not help after a wrong option, a closed window, an unwritable file or a missing permission.
        # Nor after the user has declined, or has stopped sharing in the desktop.
        RestartPreventExitStatus=64 65 66 73 75 77
        # The captures need the X server's socket in /tmp, shared memory, the sound server and the user's files.
        NoNewPrivileges=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources
        # Threads that decode and encode give themselves a lower priority than those that send.
        SystemCallFilter=setpriority
        # The captures give up rights with these, which the first group doesn't have in systemd 252.
        SystemCallFilter=seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
        SystemCallErrorNumber=EPERM
        UMask=0077

        [Install]
        WantedBy=graphical-session.target

        """
    }

    /// The path as one word of a unit's command line (systemd.service(5), "Command lines"; `%` begins a specifier).
    private static func quoted(_ path: String) -> String {
        var word = ""
        for character in path {
            switch character {
            case "\\", "\"": word += "\\\(character)"
            case "%", "$": word += "\(character)\(character)"
            default: word.append(character)
            }
        }
        return "\"\(printable(word))\""
    }
}
