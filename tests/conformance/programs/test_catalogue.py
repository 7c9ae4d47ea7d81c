from __future__ import annotations

import ast
import inspect

from simdist.conformance.programs import copies, groups, messages, reductions, training
from simdist.conformance.programs.catalogue import MISTAKES, PROGRAMS

# What the suite has to try: torch's names.
CALLS = set(
    "all_reduce reduce broadcast all_gather all_gather_into_tensor gather scatter reduce_scatter reduce_scatter_tensor "
    "all_to_all all_to_all_single send recv isend irecv P2POp batch_isend_irecv barrier monitored_barrier "
    "all_gather_object gather_object broadcast_object_list scatter_object_list send_object_list recv_object_list new_group "
    "new_subgroups split_group get_rank get_global_rank get_process_group_ranks TCPStore PrefixStore FileStore".split()
)


def test_names_are_unique():
    names = [each.name for each in (*PROGRAMS, *MISTAKES)]
    assert len(set(names)) == len(names)
    assert all(mistake.name.startswith("mistake: ") for mistake in MISTAKES)
    assert not any(program.name.startswith("mistake") for program in PROGRAMS)


def test_every_call_is_tried():
    used = set()
    for module in (copies, groups, messages, reductions, training):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dist":
                used.add(node.attr)
    assert used >= CALLS, CALLS - used
