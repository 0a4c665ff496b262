# Two images from one file: `app` (commands, tests, download) and `server-cpu` (the same plus llama.cpp's server).
# The base is pinned by tag and digest. PYTHON_IMAGE (build argument or .env) names a mirror or a local image instead.
ARG PYTHON_IMAGE=python:3.12-slim-bookworm@sha256:54c85f3c47607a77f32adec749d3c81d1348bf25833671f512b26a9b6d778cb3

# Packages only. A stage of its own, so that editing the source reinstalls nothing.
FROM ${PYTHON_IMAGE} AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY configs/app.lock /build/app.lock
RUN python -m venv /opt/venv \
    && /opt/venv/bin/python -m pip install --require-hashes --only-binary=:all: --requirement /build/app.lock

FROM packages AS packages-cpu
COPY configs/embedded.lock /build/embedded.lock
RUN /opt/venv/bin/python -m pip install --require-hashes --only-binary=:all: --requirement /build/embedded.lock

# The project's own files, named one by one. A clone made under umask 077 keeps its modes in an image, where another
# user reads it: so reading is allowed here, in a stage of its own, which costs the images no second layer.
FROM ${PYTHON_IMAGE} AS project
COPY LICENSE /app/
COPY configs /app/configs
COPY data /app/data
COPY scripts /app/scripts
COPY src /app/src
COPY tests /app/tests
RUN chmod -R a+rX /app

# What both images share. Nothing below needs to write: the root file system is read-only when it runs.
FROM ${PYTHON_IMAGE} AS base
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /app
# Any user but root; compose replaces these by the ids of the person who runs it (.env).
# /models is theirs, so that a volume which a Swarm mounts there is (configs/swarm/stack.yaml).
RUN mkdir /models && chown 10001:10001 /models
USER 10001:10001
ENTRYPOINT ["python"]

FROM base AS server-cpu
USER 0:0
# llama.cpp computes on several threads with OpenMP, which slim images lack. No version is pinned: a Debian release
# serves one version of a package at a time, so a pinned one would vanish with the next security update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*
USER 10001:10001
COPY --from=packages-cpu /opt/venv /opt/venv
COPY --from=project /app /app
CMD ["-m", "src.server.embedded_server", "--models", "/models", "--host", "0.0.0.0", "--port", "8080"]

# The last stage is what a plain `docker build .` makes.
FROM base AS app
COPY --from=packages /opt/venv /opt/venv
COPY --from=project /app /app
CMD ["-m", "src.cli", "--help"]
