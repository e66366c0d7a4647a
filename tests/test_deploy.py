"""What people run in production holds what the README promises, as far as reading it can tell."""

import json
import os
import re
import subprocess
import tomllib
from contextlib import nullcontext
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import redis
import yaml

from bot import app
from bot.errors import Unavailable
from bot.server import connection
from bot.server import health as server_health
from bot.server.metrics import DOORS, EFFECTS, MODEL_OUTCOMES, OPEN_STAGES, PUSHES, REVIEWS, Metrics
from bot.settings import Settings, name_of
from bot.shipped import Release
from bot.slack.manifest import INSTALL_PATH, REDIRECT_PATH
from bot.slack.transport import PATH
from bot.storage import local_wake
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from bot.storage.redis_client import inspected
from tests.contracts.test_wake import working
from tests.patience import wait_until
from tests.redis_server import RedisServer, asking
from tests.storage.samples import OWED, PLACE, SLUG, a_roundtable
from tests.test_metrics import everything_shown

ROOT = Path(__file__).parent.parent
FOR_COMPOSE = {"REDIS_PASSWORD"}
"""Names in the env file that are for compose and no settings of the bot."""
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    """Every *name* instruction of the image that is run, with its continued lines."""
    image = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[-1]
    return re.findall(rf"^{name} ((?:.*\\\n)*.*)", image, flags=re.MULTILINE)


STOP_SECONDS = (
    connection.ANSWER_SECONDS
    + app.PAY_SECONDS
    + app.LAST_EFFECT_SECONDS
    + local_wake.CANCEL_SECONDS
    + app.ERRAND_SECONDS
)


@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def kubernetes() -> dict[str, Any]:
    """Every object that `kubectl apply --kustomize` would make, by its kind."""
    folder = ROOT / "deploy/kubernetes"
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    objects = [yaml.safe_load((folder / name).read_text(encoding="utf-8")) for name in listed]
    assert len(objects) == len({one["kind"] for one in objects})
    return {one["kind"]: one for one in objects}


@pytest.fixture
def pod(kubernetes: dict[str, Any]) -> Any:
    return kubernetes["Deployment"]["spec"]["template"]["spec"]


@pytest.fixture
def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_the_image_runs_the_bot_as_nobody_special() -> None:
    """Signals reach it, and what it is tricked into it does without rights."""
    assert [json.loads(value) for value in instructions("ENTRYPOINT")] == [["roundtable"]]
    assert [json.loads(value) for value in instructions("CMD")] == [["run"]]
    assert instructions("USER") == ["10001:10001"]
    assert "git " in instructions("RUN")[0]


def test_the_image_keeps_the_record_outside_itself() -> None:
    """A new version of the bot finds the workspace of the old one."""
    assert instructions("VOLUME") == ["/workspace"]
    assert "ROUNDTABLE_WORKSPACE=/workspace" in instructions("ENV")[0]


def test_the_image_knows_whether_it_is_well() -> None:
    """It asks the bot itself, at the port the bot was given, with nothing but Python."""
    (check,) = instructions("HEALTHCHECK")
    program, flag, code = json.loads(check[check.index("[") :])

    assert (program, flag) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")
    assert "/healthz" in code
    assert "ROUNDTABLE_HEALTH_PORT" in code
    for part in ("ROUNDTABLE_HEALTH_HOST=0.0.0.0", "ROUNDTABLE_HEALTH_PORT=3001"):
        assert part in instructions("ENV")[-1]
    assert instructions("EXPOSE") == ["3000 3001"]


def test_the_image_holds_exactly_what_is_locked() -> None:
    """Every package by its hash; the bot itself without asking anybody."""
    assert "\nARG LOCK=image\n" in DOCKERFILE, "with the SDK that sends traces"
    for command in re.findall(r"pip install (.*?)(?: \\)?$", DOCKERFILE, flags=re.MULTILINE):
        assert "--require-hashes" in command or "--no-index --no-deps" in command


def test_only_what_the_image_is_made_of_is_sent_to_its_build() -> None:
    """Secrets, records and tools of a checkout stay out, and nothing the wheel needs is left out."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert "*" in ignored
    for needed in (
        "analysis-steps",
        "bot",
        "meetings",
        "personas",
        "requirements",
        "roundtable_eval",
        "slack_sandbox",
        "LICENSE",
        "README.md",
        "pyproject.toml",
    ):
        assert f"!{needed}" in ignored


def test_compose_keeps_what_slack_was_told_we_have(compose: Any) -> None:
    """Redis writes to disk, on a volume, before it answers, and never throws anything away."""
    store = compose["services"]["redis"]
    options = " ".join(store["command"])

    assert "--appendonly yes" in options
    assert "--maxmemory-policy noeviction" in options
    assert any(volume.endswith(":/data") for volume in store["volumes"])
    assert "ports" not in store, "the store is the bot's alone"


def test_compose_starts_the_bot_once_its_store_is_well(compose: Any) -> None:
    """Otherwise a reboot of the machine would be a race."""
    bot, store = compose["services"]["roundtable"], compose["services"]["redis"]

    assert bot["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert store["healthcheck"]["test"] == ["CMD-SHELL", "redis-cli ping | grep --quiet PONG"]
    assert store["environment"]["REDISCLI_AUTH"].startswith("${REDIS_PASSWORD:?")
    assert bot["environment"]["REDIS_URL"].endswith("@redis:6379/0")


async def test_composes_redis_asks_for_the_password_that_the_bot_has(compose: Any, tmp_path: Path) -> None:
    """On a real server with the very options of the file; `roundtable check` has nothing to say about it."""
    bot, store = compose["services"]["roundtable"], compose["services"]["redis"]
    program, *words = [re.sub(r"\$\{REDIS_PASSWORD.*?\}", "sesame", word) for word in store["command"]]
    options = {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}
    server = RedisServer(tmp_path, options=options)
    server.start()
    url = re.sub(r"\$\{REDIS_PASSWORD.*?\}", "sesame", bot["environment"]["REDIS_URL"])
    url = url.replace("redis:6379", f"127.0.0.1:{server.port}")
    try:
        async with RedisStore(url, team="T1") as asked:
            await asked.ping()
        assert (await inspected(url)).advice == ()
        async with RedisStore(server.url, team="T1") as without:
            with pytest.raises(Unavailable, match="authenticate"):
                await without.ping()
    finally:
        server.stop()
    assert program == "redis-server"
    assert "--env-file deploy/roundtable.env" in (ROOT / "deploy/compose.yaml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("patient")
async def test_the_redis_user_of_the_documentation_can_do_what_the_bot_does(
    redis_server: RedisServer, redis_url: str
) -> None:
    """Its keys, and no command of an administrator's."""
    (line,) = re.findall(
        r"^ +(ACL SETUSER .*)$", (ROOT / "docs/redis.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    completing: list[str] = []

    async def pay(slug: str) -> None:
        completing.append(slug)

    async def echo(request: str) -> str:
        return request

    with asking(redis_server) as client:
        client.execute_command(line)
        url = redis_url.replace("//", "//roundtable:PASSWORD@")
        try:
            async with (
                Ownership(url, team="T1") as owner,
                Ownership(url, team="T1") as other,
                RedisStore(url, team="T1", owner=owner) as asked,
                owner.answering(echo),
                working(lambda: nullcontext(owner), pay) as wake,
            ):
                await wait_until(lambda: owner.mine)
                assert await other.ask("a request") == "a request"
                await asked.put(a_roundtable(outbox=OWED), expected=0)
                assert await asked.at(PLACE) == a_roundtable(outbox=OWED)
                assert await asked.held() == (SLUG,)
                await wake.wake(SLUG)
                await wait_until(lambda: completing == [SLUG])
            assert (await inspected(url)).found.startswith("Redis ")
            with redis.Redis.from_url(url) as ours, pytest.raises(redis.exceptions.NoPermissionError):
                ours.set("somebody-elses", "1")
        finally:
            client.execute_command("ACL DELUSER roundtable")


def test_images_are_pinned_by_digest(compose: Any) -> None:
    """The same ones tomorrow; both stages of ours begin with the same one."""
    pinned = re.compile(r"[a-z]+:[0-9]+\.[0-9]+\.[0-9]+-[a-z-]+@sha256:[0-9a-f]{64}")
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, flags=re.MULTILINE)

    assert len(bases) == 2
    assert len(set(bases)) == 1
    for image in (*bases, compose["services"]["redis"]["image"]):
        assert pinned.fullmatch(image), image


def test_digests_are_written_by_a_script(tmp_path: Path) -> None:
    """As the registry says them, for the tags that stand there; here a program that is called docker answers."""
    digest = "sha256:" + "ab" * 32
    registry = tmp_path / "bin" / "docker"
    registry.parent.mkdir()
    registry.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "buildx imagetools inspect" ] && echo {digest}\n')
    registry.chmod(0o755)
    for name in ("Dockerfile", "deploy/compose.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    path = f"{registry.parent}:{os.environ['PATH']}"
    script = ["bash", str(ROOT / "scripts/pin-images")]
    subprocess.run(script, env={"PATH": path, "PIN_ROOT": str(tmp_path)}, check=True, capture_output=True)

    for name in ("Dockerfile", "deploy/compose.yaml"):
        before, after = ((root / name).read_text(encoding="utf-8") for root in (ROOT, tmp_path))
        assert after == re.sub(r"sha256:[0-9a-f]{64}", digest, before)
        assert digest in after


def test_compose_keeps_the_workspace_and_takes_secrets_from_a_file(compose: Any) -> None:
    """Neither is part of the image, and no secret is part of this file."""
    bot = compose["services"]["roundtable"]

    assert "workspace:/workspace" in bot["volumes"]
    assert bot["env_file"] == "roundtable.env"
    assert not any("TOKEN" in name or "SECRET" in name for name in bot["environment"])
    used = re.findall(r"\$\{(\w+)", (ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))
    assert set(used) == FOR_COMPOSE
    assert {
        volume.split(":")[0] for service in compose["services"].values() for volume in service["volumes"]
    } == {*compose["volumes"], "./ssh"}


def test_the_example_of_the_environment_starts_as_it_is() -> None:
    """Every name in it is a setting, and what is not filled in yet does no harm."""
    lines = (ROOT / "deploy/roundtable.env.example").read_text(encoding="utf-8").splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))

    assert set(example) - FOR_COMPOSE <= {name_of(field) for field in Settings.model_fields}
    assert set(example) >= FOR_COMPOSE
    assert Settings.from_env(example) == Settings()


def test_git_has_its_key_in_compose_as_in_kubernetes(compose: Any, pod: Any) -> None:
    """Mounted for reading only, beside the keys of the host; nothing of it is part of the image or of git."""
    bot, (container,) = compose["services"]["roundtable"], pod["containers"]
    (given,) = [one["value"] for one in container["env"] if one["name"] == "GIT_SSH_COMMAND"]
    (mount,) = [one for one in container["volumeMounts"] if one["name"] == "ssh"]

    assert bot["environment"]["GIT_SSH_COMMAND"] == given
    assert "./ssh:/ssh:ro" in bot["volumes"]
    assert (mount["mountPath"], mount["readOnly"]) == ("/ssh", True)
    assert re.findall(r"/ssh/(\w+)", given) == ["id_ed25519", "known_hosts"]
    assert "StrictHostKeyChecking=no" not in given
    assert "deploy/ssh/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "openssh-client" in instructions("RUN")[0]


def test_compose_runs_two_replicas_that_can_both_be_asked(compose: Any) -> None:
    """One may die, and nobody in Slack notices."""
    bot = compose["services"]["roundtable"]
    ports = [re.split("[:-]", one) for one in bot["ports"]]

    assert bot["deploy"]["replicas"] == 2
    assert [inside for *_, inside in ports] == ["3000", "3001"]
    for address, first, last, _ in ports:
        assert int(last) - int(first) + 1 == 2
        assert address == "127.0.0.1", "a TLS proxy comes before it, and health is nobody else's business"
    assert bot["read_only"]
    assert bot["cap_drop"] == ["ALL"]


def test_every_orchestrator_waits_longer_than_a_stop_takes(compose: Any, pod: Any) -> None:
    """A kill is safe, but a bot that ends by itself has nothing to make up for."""
    assert STOP_SECONDS <= 10
    assert int(compose["services"]["roundtable"]["stop_grace_period"].removesuffix("s")) > STOP_SECONDS
    assert pod["terminationGracePeriodSeconds"] > STOP_SECONDS


# --- Kubernetes -----------------------------------------------------------------------------------------------------


def test_kubernetes_always_has_somebody_who_listens(kubernetes: dict[str, Any]) -> None:
    """Two replicas, on two nodes if there are two; neither an update nor a drained node takes both."""
    deployment, budget = kubernetes["Deployment"]["spec"], kubernetes["PodDisruptionBudget"]["spec"]

    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert deployment["template"]["spec"]["topologySpreadConstraints"][0]["topologyKey"].endswith("hostname")
    assert budget["minAvailable"] == 1


def test_a_node_that_has_to_go_does_not_wait_for_somebody_to_be_ready(kubernetes: dict[str, Any]) -> None:
    """While Slack or Redis is away nobody is, and then it makes no difference."""
    assert kubernetes["PodDisruptionBudget"]["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_everything_in_kubernetes_is_about_the_same_pods(kubernetes: dict[str, Any]) -> None:
    """A label that is misspelt would make a policy of nothing."""
    deployment = kubernetes["Deployment"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]

    assert deployment["selector"]["matchLabels"] == labels
    assert kubernetes["Service"]["spec"]["selector"] == labels
    assert kubernetes["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert kubernetes["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels


def test_the_pod_is_restarted_for_its_own_sake_and_unready_for_others(pod: Any) -> None:
    """A Redis that is away must restart nobody, and has more time to answer than readiness takes to ask it."""
    (container,) = pod["containers"]

    assert container["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["readinessProbe"]["timeoutSeconds"] > 2
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": 3000, "health": 3001}
    assert {
        container[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "liveness", "readiness")
    } == {"health"}


def test_the_pod_has_no_rights_and_nothing_to_write_to_but_its_volumes(pod: Any) -> None:
    """As the strictest of Kubernetes' own standards wants it; and the user is that of the image."""
    (container,) = pod["containers"]
    may, mounts = container["securityContext"], {one["mountPath"] for one in container["volumeMounts"]}

    assert pod["securityContext"]["runAsNonRoot"]
    assert f"--uid {pod['securityContext']['runAsUser']} " in DOCKERFILE
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert may["readOnlyRootFilesystem"]
    assert may["allowPrivilegeEscalation"] is False
    assert may["capabilities"] == {"drop": ["ALL"]}
    assert {"/workspace", "/tmp"} <= mounts  # noqa: S108 -- a volume of its own
    assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert container["resources"]["requests"]
    assert container["resources"]["limits"]["memory"]


def test_the_settings_of_the_pod_are_settings(kubernetes: dict[str, Any], pod: Any) -> None:
    """With a remote, because every replica has a clone of its own; what is secret comes from a secret."""
    given = kubernetes["ConfigMap"]["data"]
    secret, _ = yaml.safe_load_all(
        (ROOT / "deploy/kubernetes/secret.example.yaml").read_text(encoding="utf-8")
    )
    settings = Settings.from_env({**given, **secret["stringData"]})

    assert set(given) | set(secret["stringData"]) <= {name_of(field) for field in Settings.model_fields}
    assert settings.remote
    assert settings.redis_url, "several replicas need one store"
    assert settings.host == "0.0.0.0"  # noqa: S104 -- inside a pod
    assert settings.health_host == "0.0.0.0"  # noqa: S104 -- inside a pod
    ports = [port["containerPort"] for port in pod["containers"][0]["ports"]]
    assert [settings.port, settings.health_port] == ports
    assert not any("TOKEN" in name or "SECRET" in name for name in given)
    sources = {next(iter(one)): next(iter(one.values()))["name"] for one in pod["containers"][0]["envFrom"]}
    assert sources == {"configMapRef": "roundtable", "secretRef": secret["metadata"]["name"]}


def test_the_pod_reaches_what_it_needs_and_nothing_in_the_cluster_besides(kubernetes: dict[str, Any]) -> None:
    """DNS, Redis and its sentinels, traces, models, and the internet by https and ssh; never the cloud's metadata."""
    policy = kubernetes["NetworkPolicy"]["spec"]
    ports = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
    outside, outside6 = [to["ipBlock"] for rule in policy["egress"] for to in rule["to"] if "ipBlock" in to]

    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    assert ports == {53, 6379, 443, 22, 4318, 8000, 11434}
    assert {"fc00::/7", "fe80::/10"} <= set(outside6["except"])
    assert all(rule["to"] and rule["ports"] for rule in policy["egress"]), "an empty list is everything"
    assert {"10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"} <= set(outside["except"])
    assert all(rule.get("from") for rule in policy["ingress"])


def test_metrics_are_scraped_at_the_port_that_has_them(kubernetes: dict[str, Any]) -> None:
    """By whoever collects them, and by nobody else; requests of others go to the other port."""
    annotations = kubernetes["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    ingress = kubernetes["NetworkPolicy"]["spec"]["ingress"]
    who = {
        port["port"]: [one["namespaceSelector"]["matchLabels"].popitem()[1] for one in rule["from"]]
        for rule in ingress
        for port in rule["ports"]
    }

    assert annotations["prometheus.io/port"] == "3001"
    assert who == {"health": ["monitoring"], "http": ["ingress-nginx"]}
    assert [port["targetPort"] for port in kubernetes["Service"]["spec"]["ports"]] == ["http"]


# --- alerts ---------------------------------------------------------------------------------------------------------


def test_the_dashboard_shows_metrics_that_there_are() -> None:
    """Twelve panels in four rows; each asks for something, and an empty graph would look like peace."""
    board = json.loads((ROOT / "deploy/dashboard.json").read_text(encoding="utf-8"))
    text = everything_shown(Metrics("T1", release=Release("1.2.3"))).text
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]

    assert (len(panels), len(board["panels"]) - len(panels)) == (12, 4)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in panels:
        names = [name for target in panel["targets"] for name in re.findall(METRIC, target["expr"])]
        assert names, panel["title"]
        for name in names:
            assert f"\n{name}{{" in text or f"\n{name} " in text, f"{panel['title']} looks at {name}"


METRIC = re.compile(r"\b(?:roundtable|process)_[a-z_]+\b")


def test_alerts_look_at_labels_that_there_are(alerts: list[dict[str, Any]]) -> None:
    """Nor would one that asks for a word nobody says."""
    known = {
        "by": {"person", "persona", "slack"},
        "part": {"store", "workspace", "queue", "reviews", "loop", "slack"},
        "door": set(DOORS),
        "kind": set(EFFECTS),
        "stage": set(OPEN_STAGES),
        "outcome": {"done", "failed", "broke", *MODEL_OUTCOMES},
        "result": {"taken", "left", *PUSHES, *REVIEWS},
    }
    for alert in alerts:
        for label, words in re.findall(r'(\w+)[!=]~?"([\w|]+)"', alert["expr"]):
            assert set(words.split("|")) <= known[label], f"{alert['alert']}: {label} {words}"


def test_every_alert_has_a_section_in_the_runbook_and_every_section_an_alert(
    alerts: list[dict[str, Any]],
) -> None:
    """What it means, what to look at, and what to do: whoever is woken has read none of this before."""
    runbook = (ROOT / "deploy/runbook.md").read_text(encoding="utf-8")
    sections = dict(
        re.findall(r"^## (Roundtable\w+)\n(.*?)(?=^## |\Z)", runbook, flags=re.MULTILINE | re.DOTALL)
    )

    assert [alert["alert"] for alert in alerts] == list(sections)
    for alert in alerts:
        name = alert["alert"]
        assert alert["annotations"]["runbook"] == f"runbook.md#{name.lower()}"
        assert alert["annotations"]["summary"].endswith(".")
        assert alert["labels"]["severity"] in {"page", "ticket"}
        for word in ("**Means**", "**Look**", "**Do**"):
            assert word in sections[name], f"{name} lacks {word}"


def test_the_runbook_names_buttons_that_there_are() -> None:
    """In italics. A list of all sentences that people read is made from the code."""
    runbook = (ROOT / "deploy/runbook.md").read_text(encoding="utf-8")
    sentences = (ROOT / "docs/sentences.md").read_text(encoding="utf-8").splitlines()
    named = set(re.findall(r"(?<![*\w])\*([A-Z][^*]*)\*(?!\*)", runbook))

    assert named
    assert {one for one in named if f"- {one}" not in sentences} == set()


def test_what_is_overdue_is_the_same_for_a_process_and_for_the_alert(alerts: list[dict[str, Any]]) -> None:
    """Two numbers for one thing would be two explanations at night."""
    (overdue,) = [alert["expr"] for alert in alerts if alert["alert"] == "RoundtableOverdue"]

    assert overdue.endswith(f"> {server_health.OVERDUE_SECONDS:.0f}")


def test_the_ingress_lets_in_what_is_slacks_and_nothing_else() -> None:
    """The runbook names the same paths, for who has another ingress."""
    ingress = yaml.safe_load((ROOT / "deploy/kubernetes/http/ingress.yaml").read_text(encoding="utf-8"))
    (rule,) = ingress["spec"]["rules"]
    paths = [one["path"] for one in rule["http"]["paths"]]

    assert paths == [PATH, INSTALL_PATH, REDIRECT_PATH]
    assert {one["pathType"] for one in rule["http"]["paths"]} == {"Exact"}
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    runbook = (ROOT / "deploy/runbook.md").read_text(encoding="utf-8")
    assert all(f"`{path}`" in runbook for path in paths)


def test_prometheus_operator_gets_the_alerts_that_there_are() -> None:
    """By the command of the runbook, from the one file."""
    runbook = (ROOT / "deploy/runbook.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^ +(\(printf .*?\)) \| kubectl apply", runbook, re.MULTILINE | re.DOTALL)
    made = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, check=True).stdout
    rules = yaml.safe_load(made)

    assert rules["kind"] == "PrometheusRule"
    assert rules["spec"] == yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text(encoding="utf-8"))


KUSTOMIZATIONS = sorted(ROOT.glob("deploy/**/kustomization.yaml"))


@pytest.mark.parametrize("path", KUSTOMIZATIONS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_what_a_kustomization_names_is_there_and_used_once(path: Path) -> None:
    """In its folder, because kustomize reads no file above it; every YAML file can be read."""
    said = yaml.safe_load(path.read_text(encoding="utf-8"))
    made = [name for one in said.get("configMapGenerator", ()) for name in one["files"]]
    named = [(path.parent / name).resolve() for name in (*said["resources"], *made)]

    assert said["kind"] in {"Kustomization", "Component"}
    assert len(named) == len(set(named))
    for one in named:
        assert one.is_file()
        assert one.is_relative_to(path.parent)
    for one in path.parent.rglob("*.yaml"):
        objects = list(yaml.safe_load_all(one.read_text(encoding="utf-8")))
        assert objects, one
        if one in named and one.name != "alerts.yaml":
            assert all(
                thing["apiVersion"] and thing["kind"] and thing["metadata"]["name"] for thing in objects
            )


def test_every_kubernetes_file_is_part_of_a_kustomization() -> None:
    """But the secret, which people fill in."""
    named = {
        path.parent / name
        for path in KUSTOMIZATIONS
        for name in yaml.safe_load(path.read_text(encoding="utf-8"))["resources"]
    }
    there = set((ROOT / "deploy/kubernetes").rglob("*.yaml")) - set(KUSTOMIZATIONS)

    assert {path.name for path in there - named} == {"secret.example.yaml"}


@pytest.mark.skipif(which("kubectl") is None, reason="kubectl is not installed here")
def test_the_components_are_rendered(tmp_path: Path) -> None:
    """As a kustomization of somebody names them, all together, in one namespace."""
    here = {
        name: os.path.relpath(ROOT / "deploy" / name, tmp_path)
        for name in ("", "kubernetes", "kubernetes/http")
    }
    own = {
        "namespace": "roundtable",
        "resources": [here["kubernetes"]],
        "components": [here[""], here["kubernetes/http"]],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    ran = subprocess.run(["kubectl", "kustomize", str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr

    objects = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(ran.stdout)}
    assert {"Ingress", "PodMonitor", "Deployment", "Service"} <= {kind for kind, _ in objects}
    assert {one["metadata"].get("namespace", "") for one in objects.values()} == {"", "roundtable"}
    alerts = objects["ConfigMap", "roundtable-alerts"]["data"]["alerts.yaml"]
    assert alerts == (ROOT / "deploy/alerts.yaml").read_text(encoding="utf-8")
    (container,) = objects["Deployment", "roundtable"]["spec"]["template"]["spec"]["containers"]
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert container["image"] == f"roundtable-bot:{version}"
    (endpoint,) = objects["PodMonitor", "roundtable"]["spec"]["podMetricsEndpoints"]
    assert endpoint["port"] in {port["name"] for port in container["ports"]}
