"""What viewers may expect of a scene; every limit is here and nowhere else."""

from bench_kit.limits import at_least, at_most

#: Films and logs: the least share of the painted frames, at this QP at most.
FRAMES, COARSEST = 0.95, 40
#: Age of what viewers see, p95 in ms, wherever the scene fits the rate at COARSEST.
AGE = 150
#: PSNR during motion may be less than webrtcbin's at the same bytes from here on: what differs can't be seen.
SHARP = 45


def checks(scene, label, figures):
    """The limits of a scene, and its medians."""
    title = "%s, %s: " % (scene.name, label)
    found = [at_most(title + "freezes", figures["freezes"], 0, "in all")]
    if scene.is_steady:
        found += [at_least(title + "frames", figures["fps"] / max(figures["painted"], 0.1), FRAMES, "of the painted"),
                  at_most(title + "QP", figures["qp"], COARSEST, "on average")]
    if figures["qp"] <= COARSEST:
        found.append(at_most(title + "age, p95", figures["age_p95"], AGE, "ms"))
    if "beside" in figures:
        found.append(at_least(title + "PSNR (webrtcbin's at the same bytes)", figures["psnr"],
                              min(figures["beside"], SHARP), "dB"))
    return found
