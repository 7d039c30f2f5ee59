"""Trajectories of other tools, read into ours and, where a format allows it, written back.

One module per format, each with one `Importer`. What a format does not record stays empty: no key, no probes, no
network log. Actions in a foreign action space are kept verbatim in `Step.action_text`, with name and arguments in
`Step.info`; they are not ours to check.

`Step.seen` is always the page *before* the actions of that step, `last_seen` the page after the last one. Fara,
WebVoyager and AgentRewardBench record the page before; Online-Mind2Web records the start page and then one picture
after each action, which is the same list shifted into `last_seen`.
"""
