# The bot, ready for Slack:
#
#     docker build --tag roundtable-bot .
#     docker run --env-file roundtable.env --volume roundtable:/workspace roundtable-bot
#
# With `--build-arg LOCK=models` it can also think with models (docs/models.md). Both can send traces.

# scripts/pin-images writes the digests of this file and of deploy/compose.yaml.
FROM python:3.13.14-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8 AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
ARG LOCK=image
WORKDIR /source

# Apart from the sources, so that a change of those does not install everything again.
COPY requirements/ requirements/
RUN python -m venv /venv \
    && /venv/bin/pip install --require-hashes --only-binary :all: -r "requirements/$LOCK.txt" \
    && pip install --require-hashes --only-binary :all: -r requirements/build.txt

COPY . .
ARG REVISION=""
RUN mkdir -p bot/_content && printf '%s' "$REVISION" >bot/_content/revision.txt
RUN python -m hatchling build --target wheel \
    && /venv/bin/pip install --no-index --no-deps dist/*.whl \
    && /venv/bin/pip uninstall --yes pip


FROM python:3.13.14-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    # A workspace may be a folder of the host, which belongs to somebody there.
    && git config --system --add safe.directory /workspace \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin roundtable \
    && install --directory --owner roundtable --group roundtable /workspace
COPY --from=build /venv /venv

ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ROUNDTABLE_WORKSPACE=/workspace \
    ROUNDTABLE_HOST=0.0.0.0 \
    ROUNDTABLE_PORT=3000 \
    ROUNDTABLE_HEALTH_HOST=0.0.0.0 \
    ROUNDTABLE_HEALTH_PORT=3001
# By number: Kubernetes cannot see that a name is not root.
USER 10001:10001
WORKDIR /workspace
VOLUME /workspace
EXPOSE 3000 3001
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as web; web.urlopen('http://127.0.0.1:' + os.environ['ROUNDTABLE_HEALTH_PORT'] + '/healthz', timeout=4)"]

# Last, so that another version does not install everything again. `scripts/release` prints the command.
ARG VERSION=""
ARG REVISION=""
ARG CREATED=""
ARG SOURCE=""
ARG BASE_NAME=""
ARG BASE_DIGEST=""
LABEL org.opencontainers.image.title="Roundtable" \
    org.opencontainers.image.description="A Slack bot that hosts roundtable discussions" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.created="$CREATED" \
    org.opencontainers.image.source="$SOURCE" \
    org.opencontainers.image.base.name="$BASE_NAME" \
    org.opencontainers.image.base.digest="$BASE_DIGEST"

# Signals reach the bot itself, which then finishes what it is doing.
ENTRYPOINT ["roundtable"]
CMD ["run"]
