"""What the sound of a share has to reach; every limit is here and nowhere else."""

#: The share of flashes and beeps that each listener must find.
FOUND = 0.98
#: ms: how far sound may be from its picture for 95 of 100 beeps, and how far that may move in a whole run.
OFFSET, DRIFT = 40, 5
#: ms from the sink to the page's ear, for 95 of 100 beeps.
TO_EAR = 100
#: dB, by the percentage of packets that are lost; None: no limit.
CLEAN_SNR = {0: 40, 1: 25}
#: ms: the longest gap, and how many clicks, by the percentage of packets that are lost.
LONGEST_GAP = {0: 0, 5: 60}
CLICKS = {0: 0}
#: ms of processor time a second, host and capture of sound together, more than without --sound.
SILENT_CPU, PLAYING_CPU = 0.5, 15
#: MB of 10^6 bytes.
MEMORY = 20
#: ms of a beep's beginning that may be missing.
MISSING = 20
#: ms from a first listener's connecting to its first sound, beyond the player's own latency, and how far that and each later beep may be from its place;
#: millionths that the pitch may be off.
FIRST, FIRST_OFFSET, FIRST_PITCH = 300, 10, 300
#: How often the capture of sound is killed, and ms until sound comes again and for which pictures may stand still.
KILLS, BACK, PICTURES_PAUSE = 20, 1000, 300
