"""Trajectories of other tools, read into ours and, where a format allows it, written back; one module per format.

What a format does not record stays empty. Foreign actions are kept verbatim in `Step.action_text`, with name and
arguments in `Step.info`. `Step.seen` is always the page *before* the actions of that step, `last_seen` the page after
the last one; Online-Mind2Web records the start page and then one picture after each action, which is the same list.
"""
