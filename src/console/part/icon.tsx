const PATHS = {
  key: 'M2 8a3 3 0 1 0 6 0 3 3 0 1 0-6 0M8 8h6.2M12 8v2.6',
  tri: 'M8 2.2 14.4 13.4H1.6zM8 6.4v3.2M8 11.6v.1',
  ok: 'm3 8.5 3.2 3.2L13 4.8',
  no: 'm4 4 8 8M12 4l-8 8',
  ring: 'M8 2.5A5.5 5.5 0 1 1 8 13.5 5.5 5.5 0 1 1 8 2.5',
  undo: 'M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.6 3.4 2.6 6.5l3 3',
  stop: 'M4 4h8v8H4z',
  pause: 'M8 1.5v13M2.4 4.8l11.2 6.4M13.6 4.8 2.4 11.2',
  left: 'm9.5 3.5-4.5 4.5 4.5 4.5',
  menu: 'M2 4.5h12M2 8h12M2 11.5h12',
  dot: 'M8 6.4v3.2M6.4 8h3.2',
  seal: 'M8 1.4 13.3 3.2v4.3c0 3.2-2.2 5.8-5.3 7-3.1-1.2-5.3-3.8-5.3-7V3.2zM5.4 7.9l1.9 1.9 3.3-3.7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" class={name === 'ring' ? 'dashed' : ''}>
      <path d={PATHS[name]} />
    </svg>
  );
}

const TONES = { danger: 'tri', warn: 'tri', ok: 'ok', plain: null } as const;

/** A word in its colour, and a shape with it: never colour alone. */
export function Tag({
  tone,
  icon,
  children,
}: {
  tone: keyof typeof TONES;
  icon?: IconName;
  children: preact.ComponentChildren;
}) {
  const shape = icon ?? TONES[tone];
  return (
    <span class={`tag ${tone}`}>
      {shape && <Icon name={shape} />}
      {children}
    </span>
  );
}
