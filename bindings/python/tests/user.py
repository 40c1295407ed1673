# SPDX-License-Identifier: MIT
"""A user's program: mypy --strict accepts it as it is, and it prints "done"."""
import asyncio
import resource
from typing import Dict, List, Optional

import aspawn
from aspawn import actions, aio


def version(directory: str) -> str:
    """The output of a command with limits, in another directory."""
    limits = {resource.RLIMIT_CPU: (10, 11)}
    done = aspawn.run(["uname", "-s"], text=True, capture_output=True, check=True, timeout=10, limits=limits,
                      owner="tree", actions=[actions.chdir(directory), actions.umask(0o27)])
    return done.stdout.strip()


def why_not(program: str, directory: str = "/") -> Optional[str]:
    """Why a program cannot be started."""
    try:
        with aspawn.Popen([program], actions=[actions.chdir(directory)], owner="private") as process:
            process.kill_group()
    except OSError as error:
        failure = aspawn.failure_of(error)
        return failure.text if failure else str(error)
    return None


def sizes(names: List[str]) -> Dict[str, int]:
    """How much each of several commands writes."""
    with aspawn.Queue(running=4) as queue:
        jobs = {name: queue.submit(["echo", name], timeout=10, output_size=100) for name in names}
        failed = queue.submit(["sh", "-c", "exit 3"], check=True)
        result = aspawn.result_of(failed.exception())
        assert result is not None and result.returncode == 3 and result.usage.ru_utime >= 0
        return {name: job.result().stdout_total for name, job in jobs.items()}


async def written_by(command: str, data: bytes) -> bytes:
    """What a shell's command makes of the input, in asyncio."""
    process = await aio.create_subprocess_shell(command, stdin=aspawn.PIPE, stdout=aspawn.PIPE, owner="tree")
    output, _ = await process.communicate(data)
    process.kill_tree()
    return output


assert version("/usr") == "Linux"
assert why_not("true") is None
assert why_not("true", "/no/such") == 'action 0, chdir "/no/such": ENOENT'
assert sizes(["a", "bcd"]) == {"a": 2, "bcd": 4}
assert asyncio.run(written_by("tr a-z A-Z", b"abc")) == b"ABC"
print("done")
