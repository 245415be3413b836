import { api, send } from '../api.ts';
import { Loaded } from '../components/notice.tsx';
import { Screen } from '../components/screen.tsx';
import { Table } from '../components/table.tsx';
import { Badge } from '../components/text.tsx';
import type { Setting } from '../contract.d.ts';
import { useLoad } from '../loading.ts';

/** The description of each setting in infra/settings.md, which infra/static-files.ts puts in. */
declare const MEANINGS: Readonly<Record<string, string>>;

const shown = (value: Setting['value']) =>
  value === '' ? <span class="muted">none</span> : <code>{value}</code>;

/** The settings in force. They cannot be changed here. */
export const Settings = () => {
  const settings = useLoad(
    'settings',
    async () => (await send(api.GET('/api/admin/settings'))).data,
  );
  return (
    <Screen title="Settings">
      <p class="muted">They are changed where the service is deployed, or started.</p>
      <Loaded what="The settings" from={settings}>
        {(rows) => (
          <Table
            caption="Settings in force"
            columns={[
              { title: 'Setting', cell: ({ name }) => <code>{name}</code> },
              {
                title: 'Value',
                class: 'name',
                cell: ({ value, ...row }) => (
                  <span>
                    {shown(value)} {value !== row.default && <Badge kind="strong">Changed</Badge>}
                  </span>
                ),
              },
              { title: 'Default', cell: (row) => shown(row.default) },
              {
                title: 'Meaning',
                cell: ({ name }) => <span>{MEANINGS[name]}</span>,
                class: 'name',
              },
            ]}
            rows={rows}
            keyOf={({ name }) => name}
            empty="There are none."
          />
        )}
      </Loaded>
    </Screen>
  );
};
