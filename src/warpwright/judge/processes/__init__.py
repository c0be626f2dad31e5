"""The processes that run kernels.

link.py            messages between processes, as JSON, with a deadline
workers.py         processes as the judge sees them: fresh, asked with a deadline, killed without regret
kernel_process.py  the process that runs candidate kernels, and nothing else
staged_call.py     one call of a candidate as the judge stages it
solo.py            one candidate alone in a process, for tools that watch a process
"""
