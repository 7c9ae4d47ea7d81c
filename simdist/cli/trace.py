"""``simdist trace``: read a saved trace again, check it, step through it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from simdist.cli.failure import UsageError, taught
from simdist.cli.output import print_json, print_table
from simdist.cli.picture import save
from simdist.units import format_bytes, format_time

__all__ = ["trace"]


@taught
def trace(
    file: Annotated[Path, typer.Argument(help="A trace as `simdist run --trace` or run.save_trace(...) writes it.")],
    check: Annotated[
        bool, typer.Option("--check", help="Check the file against the format; exit code 1 on problems.")
    ] = False,
    report: Annotated[bool, typer.Option("--report", help="Print where the time went.")] = False,
    at: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="What every rank did at this time: 1.5e-3.")
    ] = None,
    timeline: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw who did what when.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Look into a saved trace: what is in it, where the time went, what everybody did at one moment.

    **Examples:** `simdist trace trace.json --report`, `simdist trace trace.json --at 1.5e-3`,
    `simdist trace trace.json --check`. The same file opens at ui.perfetto.dev.
    """
    if not file.is_file():
        raise UsageError(f"there is no file {str(file)!r}. A run saves one with run.save_trace({file.name!r}).")
    if check:
        _check(file, as_json)
        return
    recorded = _read(file)
    facts = _facts(recorded)
    if timeline is not None:
        from simdist.plot.timeline import timeline as draw

        facts["timeline"] = save(draw(recorded), timeline)
    texts = _texts(recorded, report, at)
    if as_json:
        print_json(facts | texts)
        return
    if not texts:
        print_table(("what", "value"), [(key, _human(key, value)) for key, value in facts.items()])
    for text in texts.values():
        typer.echo(text)
    if texts and timeline is not None:
        typer.echo(f"timeline: {timeline}")


def _read(file: Path) -> Any:
    from simdist.trace.chrome import read

    try:
        return read(file)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{str(file)!r} is not a trace that simdist wrote ({error}). See what is wrong: simdist trace {file} --check"
        ) from error


def _check(file: Path, as_json: bool) -> None:
    from simdist.trace.validate import validate

    problems = [str(problem) for problem in validate(file)]
    if as_json:
        print_json({"file": str(file), "valid": not problems, "problems": problems})
    else:
        typer.echo("\n".join(problems) or f"{file}: a valid trace")
    if problems:
        raise typer.Exit(1)


def _facts(recorded: Any) -> dict[str, Any]:
    flows = recorded.flows()
    return {
        "world_size": recorded.world_size,
        "time": recorded.end,
        "spans": len(recorded.spans()),
        "messages": len(flows),
        "bytes_sent": sum(flow[5] for flow in flows),
    }


def _texts(recorded: Any, report: bool, at: float | None) -> dict[str, str]:
    texts = {}
    if report:
        from simdist.cost.collective_use import collective_use, table_text
        from simdist.trace.breakdown import report_text

        use = collective_use(recorded)
        texts["report"] = "\n".join([report_text(recorded), *([table_text(use)] if use else [])])
    if at is not None:
        from simdist.trace.at import at as moment

        if not 0 <= at <= recorded.end:
            raise UsageError(f"--at {at:g} is outside the run: it goes from 0 to {recorded.end:g} seconds.")
        texts["at"] = str(moment(recorded, at))
    return texts


def _human(key: str, value: Any) -> str:
    printer = {"time": format_time, "bytes_sent": format_bytes}.get(key, str)
    return str(printer(value))
