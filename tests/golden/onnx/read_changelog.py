#!/usr/bin/env python3
"""Prints operators.txt from docs/Changelog.md of github.com/onnx/onnx, which ONNX writes from its schemas: read_changelog.py Changelog.md"""
import re
import sys

KINDS = {'int': 'i', 'float': 'f', 'string': 's', 'tensor': 't', 'graph': 'g', 'list of ints': 'I', 'list of floats': 'F',
         'list of strings': 'S', 'sparse_tensor': 'p', 'type_proto': 'y', 'list of type_protos': 'Y'}
MANY = 2147483647


def attribute(line):
    name, what = re.match(r'<dt><tt>(.*?)</tt> : (.*)</dt>', line).groups()
    text = name + ':' + KINDS[re.sub(r'\s*\(.*', '', what)]
    usual = re.search(r'\(default is (\w+)\)', what)
    if usual and text.endswith(':s'):
        text += '=' + usual[1].replace('foward', 'forward')  # a slip of GRU-1
    return text + ('!' if '(required)' in what else '')


def count(bounds, listed):
    if not bounds:
        return f'{listed}-{listed}'
    least, most = (MANY if n == '&#8734;' else int(n) for n in bounds.groups()[1:])
    return f"{least}-{'*' if most >= MANY else most}"


def forms(lines):
    """Each form of an operator of ONNX's own domain: (name, set), its lines by heading, whether it is deprecated."""
    own, form = False, None
    for line in lines:
        if line.startswith('## Version'):
            own, form = 'of the default ONNX operator set' in line, None
        start = re.match(r'### <a name="(\w+)-(\d+)"></a>\*\*', line)
        if start and own:
            form = {'key': (start[1], int(start[2])), 'deprecated': '(deprecated' in line or 'deprecated**' in line}
            part, form['bounds'] = None, {}
            yield form
        elif line.startswith('### '):
            form = None
        heading = re.match(r'#### (\w+)(?: \((\d+|&#8734;) - (\d+|&#8734;)\))?', line)
        if form and heading:
            part = heading[1]
            form[part] = []
            form['bounds'][part] = heading if heading[2] else None
        elif form and part and line.startswith('<dt>'):
            form[part].append(line)


if __name__ == '__main__':
    with open(sys.argv[1], encoding='utf-8') as file:
        for f in sorted(list(forms(file.read().split('\n'))), key=lambda f: f['key']):
            words = [*map(str, f['key'])]
            for part in ('Inputs', 'Outputs'):
                words.append(count(f['bounds'].get(part), len(f.get(part, []))))
            print(' '.join(words + (['deprecated'] if f['deprecated'] else []) + sorted(map(attribute, f.get('Attributes', [])))))
