"""`docker compose up -d server` on an engine without a GPU: that, and nothing else, is what stops it.

Needs an engine without an NVIDIA runtime, and the images. Run by: bash .ci/containers.sh
"""

import os
import subprocess

import pytest

from tests.containers.scene import ROOT, docker, image


def test_the_cuda_server_fails_at_the_gpu_and_at_nothing_before_it(engine: None) -> None:
    if "nvidia" in docker("info", "--format", "{{json .Runtimes}}").stdout:
        pytest.skip("this engine has an NVIDIA runtime")
    env = {**os.environ, "LLAMA_IMAGE": image()}  # the CUDA image cannot be pulled in CI; the reservation is the same
    try:
        done = subprocess.run(
            ["docker", "compose", "up", "-d", "server"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
        )
    finally:
        docker("compose", "rm", "--force", "--stop", "server")
    assert done.returncode != 0
    assert 'could not select device driver "nvidia" with capabilities: [[gpu]]' in done.stderr
