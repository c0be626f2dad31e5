"""The processes that run kernels, and messages between them.

link.py            messages between processes, as JSON, with a deadline
workers.py         workers as the judge sees them: started ahead, asked with a deadline, killed
kernel_process.py  the process that runs candidate kernels, and nothing else
staged_call.py     one call of a candidate: its buffers, inputs and results in the arena
solo.py            one candidate alone in a process, for profilers and sanitizers
"""
