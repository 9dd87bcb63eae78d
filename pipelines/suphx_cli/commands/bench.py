"""``suphx bench``: how fast this machine plays, encodes, infers and learns; ``suphx warmup`` compiles the kernels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from suphx.games.registry import DEFAULT_GAME, decision_names, load_game
from suphx.models.net_config import Compilation, DeviceName, Normalization, Precision
from suphx.selfplay.config import Nets
from suphx.usable_cores import usable_cores
from suphx_cli.arguments import ENCODERS, SIZES, UsageError, add_command, add_group, parallel, seconds, whole

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_BENCH = """
bench: measure the speed of this machine

examples:
  suphx bench simulator --threads 4
  suphx bench training --size small --batch 256 1024
  suphx bench selfplay --ray
"""
_SECONDS = "--seconds X  minimum duration per measured rate in each of 3 rounds (default: 1)"
_NET = """\
--device   device of the nets (default: auto, which is cuda if available)
--size     size of the nets (default: SIZE)
--encoder  encoder of the planes (default: suphx)"""
_SIMULATOR = f"""
simulator: measure games per second, and the start-up time

--game        dazhong, mcr: games of scripted agents, in the kernel and at the tables of a match (default: riichi)
--hanchans N  random games of riichi per measured call (default: 300)
--threads N   threads of the rules engine (default: 1)
--skip-start  do not measure the start-up time, which takes minutes
--seed S      seed of the walls (default: 0)
{_SECONDS}
"""
_HANDS = f"""
hands: measure scored wins and computed shanten per second

--game     mcr: counted fans of winning hands (default: riichi)
--peer     of mcr: a library that counts the same hands in turn, from pip install PyMahjongGB==1.4.0
--hands N  number of different hands (default: 5000)
--seed S   seed of the hands (default: 0)
{_SECONDS}
"""
_FEATURES = f"""
features: measure encoded decisions per second

--game         dazhong, mcr: decisions in games of the last scripted agent (default: riichi)
--decisions N  number of different decisions (default: 20000)
--threads N    threads of the encoder (default: 1)
--seed S       seed of the walls (default: 0)
{_SECONDS}
"""
_NET_OPTIONS = f"""\
{_NET.replace("SIZE", "paper")}
--batch N…       batch sizes to compare (default: depends on the device)
--seconds T      time per batch size, after a warm-up (default: 5)
--head           which net (default: discard)
--normalization  normalization of the net (default: batch)
--precision      number format (default: auto, which is bf16 if the hardware supports it)
--compile        mode of torch.compile (default: auto, which is default on a GPU and none on a CPU)
--threads N      CPU threads of torch (default: 1)
--seed S         seed of the positions (default: 0)
"""
_INFERENCE = f"inference: measure decisions of a net per second\n\n{_NET_OPTIONS}"
_TRAINING = f"training: measure training samples of a net per second\n\n{_NET_OPTIONS}"
_SELFPLAY = f"""
selfplay: measure self-play end to end, and each part alone

--net           null: run without nets, to measure the platform alone (default: policy)
{_NET.replace("SIZE", "tiny")}
--tables N      games per simulator, an even number (default: 512)
--ray           run simulators and engines as processes over Ray
--simulators N  with --ray: number of simulators (default: --threads)
--engines N     with --ray: number of inference engines; 0 places one in each simulator (default: 1 on a GPU, else 0)
--threads N     CPU cores for the ideal throughput (default: all with --ray, else 2: the simulator's and the engine's)
--rollout-fragment-length N  decisions per game between two additions to the replay buffer (default: 16)
--seconds T     duration of each measurement (default: 10)
--seed S        seed of games and nets (default: 0)
"""
_WARMUP = """
warmup: compile the rules engine in advance

Compile all kernels of the rules engine that are not in the cache, on all cores, and build its tables.
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its sub-commands, and ``warmup``."""
    subjects = add_group(commands, _BENCH)
    threads = {"type": parallel, "default": 1}
    rules: dict[str, Any] = {
        "game": {"choices": ("riichi", "dazhong", "mcr"), "default": DEFAULT_GAME},
        "seed": 0,
        "seconds": {"type": seconds, "default": 1.0},
        "hanchans": 300,
        "hands": 5000,
        "decisions": 20_000,
        "threads": threads,
    }
    net: dict[str, Any] = {
        "device": {"choices": get_args(DeviceName), "default": "auto"},
        "encoder": {"choices": ENCODERS, "default": "suphx"},
        "size": {"choices": SIZES, "default": "paper"},
        "batch": [],
        "seconds": 5.0,
        "head": {"choices": decision_names("riichi"), "default": "discard"},
        "normalization": {"choices": get_args(Normalization), "default": "batch"},
        "precision": {"choices": get_args(Precision), "default": "auto"},
        "compile": {"choices": get_args(Compilation), "default": "auto"},
        "threads": threads,
        "seed": 0,
    }
    play: dict[str, Any] = {
        "net": {"choices": get_args(Nets), "default": "policy"},
        "size": {"choices": SIZES, "default": "tiny"},
        "tables": {"type": whole(1, 65_536), "default": 512},
        "simulators": {"type": parallel},
        "engines": {"type": whole(0, 1024)},
        "threads": {"type": parallel},
        "rollout_fragment_length": 16,
        "seconds": {"type": _some_seconds, "default": 10.0},
    }
    hands = rules | {
        "game": {"choices": ("riichi", "mcr"), "default": DEFAULT_GAME},
        "peer": {"choices": ("PyMahjongGB",)},
    }
    for subject, page, execute, settings in (
        ("simulator", _SIMULATOR, execute_rules, rules),
        ("hands", _HANDS, execute_rules, hands),
        ("features", _FEATURES, execute_rules, rules),
        ("inference", _INFERENCE, execute_net, net),
        ("training", _TRAINING, execute_net, net),
        ("selfplay", _SELFPLAY, execute_selfplay, net | play),
    ):
        add_command(subjects, options, page, execute, **settings).set_defaults(subject=subject)
    add_command(commands, options, _WARMUP, execute_warmup)


def _some_seconds(text: str) -> float:
    if (value := seconds(text)) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is too short: use more than 0 seconds, such as 0.5")
    return value


def _measured(
    console: Console, kernels: tuple[str, ...], measure: Callable[[Callable[[str], None]], dict[str, object]]
) -> dict[str, object]:
    """Compile the groups of ``kernels``, if there are any, before the clock starts, and measure.

    ``measure`` gets a function that ends the step before and begins the one of the given name.
    """
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    if kernels:
        compile_kernels(console, *kernels)
    with ExitStack() as stack:

        def begin(name: str) -> None:
            stack.close()
            stack.enter_context(console.activity(name))

        return measure(begin)


def execute_rules(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the rules engine, the scoring of hands, or the encoder of a game."""
    module = import_module(f"suphx_platform.bench.{args.game}")
    case: dict[str, Any] = {"seed": args.seed, "seconds": args.seconds}
    if args.subject == "simulator":
        case |= {"num_hanchans": args.hanchans, "num_threads": args.threads, "skips_start": args.skip_start}
    elif args.subject == "hands":
        case |= {"num_hands": args.hands}
        if args.peer is not None:
            if args.peer not in getattr(module, "PEERS", ()):
                raise UsageError(f"--peer {args.peer} counts no hands of {args.game}: omit it")
            case["peer"] = args.peer
    else:
        case |= {"num_decisions": args.decisions, "num_threads": args.threads}
    kernels = getattr(module, "KERNELS", {}).get(args.subject, load_game(args.game).kernel_groups)
    bench = getattr(module, f"bench_{args.subject}")
    return _measured(console, kernels, lambda begin: bench(**case, say=begin))


def execute_net(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure inference or training of a net; ValueError for cuda where there is none."""
    from suphx_platform.bench.nets import NetCase, bench_inference, bench_training

    same = ("device", "size", "head", "encoder", "normalization", "precision", "threads", "seconds", "seed")
    case = NetCase(**{name: getattr(args, name) for name in same}, compilation=args.compile)
    bench = bench_inference if args.subject == "inference" else bench_training
    kernels = ("encoder", "nets", "net games", "samples")
    return _measured(console, kernels, lambda begin: bench(case, args.batch, say=begin))


def execute_selfplay(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure self-play; ValueError for cuda where there is none, UsageError for options that do not fit."""
    if not args.ray and (args.simulators, args.engines) != (None, None):
        raise UsageError("--simulators and --engines are numbers of Ray's processes: add --ray")
    if args.tables % 2:
        raise UsageError(f"--tables is {args.tables}: use an even number, as two halves of the games take turns")
    from suphx.models.device import find_device
    from suphx_platform.bench.selfplay import SelfplayCase, bench_selfplay, play_here

    is_on_gpu = args.net != "null" and find_device(args.device).type == "cuda"
    cores = args.threads or (usable_cores() if args.ray else min(2, usable_cores()))
    num_engines = args.engines
    if num_engines is None:
        num_engines = 1 if is_on_gpu or not args.ray else 0
    case = SelfplayCase(
        encoder=args.encoder,
        size=args.size,
        nets=args.net,
        num_tables=args.tables,
        num_simulators=(args.simulators or cores) if args.ray else 1,
        num_engines=num_engines,
        num_cores=cores,
        device="cuda" if is_on_gpu else "cpu",
        on_ray=args.ray,
        rollout_fragment_length=args.rollout_fragment_length,
        seconds=args.seconds,
        seed=args.seed,
    )
    play = play_here
    if args.ray:
        from suphx_platform.bench.selfplay_ray import play_over_ray as play  # imports Ray, which takes seconds
    kernels = ("engine", "encoder", "nets", "self-play")
    return _measured(console, kernels, lambda begin: bench_selfplay(case, play, say=begin))


def execute_warmup(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Compile all that is not in the cache yet."""
    from suphx.cache_folder import cache_root, remove_unused
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    started, folder = time.perf_counter(), cache_root()
    console.say(f"compiling kernels into {folder}")
    kernels = compile_kernels(console)
    remove_unused(folder / "kernels")
    return {
        "folder": str(folder),
        "seconds": round(time.perf_counter() - started, 3),
        "groups": kernels.groups,
    }
